
// Two things: an agent is brought to the front in all figures, and films open in the player.

// --- one agent to the front ---

let pinned = null;

function light(agent) {
  for (const part of document.querySelectorAll(".lit")) part.classList.remove("lit");
  document.body.classList.toggle("some", agent !== null);
  if (agent === null) return;
  for (const part of document.querySelectorAll(`[data-agent="${agent}"]`)) {
    part.classList.add("lit");
  }
}

function pointed(event) {
  const at = event.target instanceof Element ? event.target.closest("[data-agent]") : null;
  light(at ? at.dataset.agent : pinned);
}

document.addEventListener("pointerover", pointed);
document.addEventListener("focusin", pointed);
document.documentElement.addEventListener("pointerleave", () => light(pinned));

function pin(agent) {
  pinned = pinned === agent ? null : agent;
  for (const button of document.querySelectorAll(".pin")) {
    button.setAttribute("aria-pressed", String(button.dataset.agent === pinned));
  }
  light(pinned);
}

// --- films ---

const viewer = document.getElementById("viewer");
const player = new Player(viewer);
let opener = null;

async function open(number, from) {
  const film = await unpacked(document.getElementById(`film-${number}`).textContent);
  opener = from;
  document.getElementById("viewer-title").replaceChildren(
    ...film.names.map((name, seat) => {
      const who = made("span", "", "who");
      who.append(player.mark(seat), name);
      return who;
    }),
  );
  if (!viewer.open) viewer.showModal();
  player.load(film);
  viewer.querySelector('[data-step="forward"]').focus();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (event.target === viewer) viewer.close(); // beside it
  if (!button) return;
  if (button.dataset.film !== undefined) open(button.dataset.film, button);
  else if (button.id === "viewer-close") viewer.close();
  else if (button.classList.contains("pin")) pin(button.dataset.agent);
});

viewer.addEventListener("close", () => {
  player.unload();
  opener?.focus();
});

// What is folded away on the screen is not on paper.
window.addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
});
