"use strict";
// Two things: an agent is brought to the front in all figures, and films are stepped through.
// All words are set as text and all pictures are parsed as SVG, never as HTML.

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
const board = document.getElementById("viewer-board");
const list = document.getElementById("viewer-moves");
const shapes = ["●", "■", "▲", "◆", "★", "⬢"];
let film = null;
let frame = 0;
let opener = null;

async function unpacked(id) {
  const text = document.getElementById(id).textContent;
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

function made(name, words, kind) {
  const node = document.createElement(name);
  if (words) node.textContent = words;
  if (kind) node.className = kind;
  return node;
}

function mark(seat) {
  const node = made("span", shapes[seat % shapes.length], `mark seat${seat % shapes.length}`);
  node.setAttribute("aria-hidden", "true");
  return node;
}

function show(at) {
  frame = Math.min(Math.max(at, 0), film.frames.length - 1);
  const text = film.frames[frame].map((piece) => film.pieces[piece]).join("");
  const drawn = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  board.replaceChildren(document.importNode(drawn, true));
  const last = film.frames.length - 1;
  document.getElementById("viewer-count").value = `${frame} / ${last}`;
  const now = document.getElementById("viewer-now");
  if (frame === 0) {
    now.replaceChildren("The deal");
  } else {
    const [seat, words] = film.moves[frame - 1];
    now.replaceChildren(mark(seat), made("b", film.names[seat]), ` ${words}`);
  }
  if (frame === last && film.over) {
    const each = film.names.map((name, seat) => `${name} ${film.points[seat]}`).join(", ");
    const points = film.together ? film.points[0] : each;
    now.append(made("span", `The game is over. Points: ${points}.`, "end"));
  }
  for (const button of viewer.querySelectorAll("[data-step]")) {
    const back = button.dataset.step === "first" || button.dataset.step === "back";
    // Not `disabled`, which would take the focus away from whoever holds the button.
    button.setAttribute("aria-disabled", String(back ? frame === 0 : frame === last));
  }
  list.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const current = list.children[frame];
  current.firstElementChild.setAttribute("aria-current", "step");
  // The list is scrolled, and nothing around it.
  const top = current.offsetTop - (list.clientHeight - current.offsetHeight) / 2;
  list.scrollTo({ top, behavior: "instant" });
}

function step(name) {
  const last = film.frames.length - 1;
  show({ first: 0, back: frame - 1, forward: frame + 1, last }[name]);
}

// Pictures may differ in height: the tallest makes the room, so that nothing below it jumps.
function tallest() {
  const roots = film.pieces.filter((piece) => /^<svg[^>]* class="kibitz /.test(piece));
  const sides = roots.map((root) => root.match(/viewBox="\S+ \S+ (\S+) (\S+)"/));
  return Math.min(...sides.filter(Boolean).map(([, width, height]) => width / height));
}

async function open(number, from) {
  film = await unpacked(`film-${number}`);
  board.style.aspectRatio = tallest();
  opener = from;
  const title = document.getElementById("viewer-title");
  title.replaceChildren();
  film.names.forEach((name, seat) => {
    const who = made("span", "", "who");
    who.append(mark(seat), name);
    title.append(who);
  });
  list.replaceChildren(
    ...[null, ...film.moves].map((move, at) => {
      const button = made("button");
      button.type = "button";
      button.dataset.frame = at;
      if (move) button.append(made("span", String(at), "ply"), mark(move[0]), made("span", move[1]));
      else button.append(made("span", "0", "ply"), made("span", "The deal"));
      const item = made("li");
      item.append(button);
      return item;
    }),
  );
  if (!viewer.open) viewer.showModal();
  show(0);
  viewer.querySelector('[data-step="forward"]').focus();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (event.target === viewer) viewer.close(); // beside it
  if (!button) return;
  if (button.dataset.film !== undefined) open(button.dataset.film, button);
  else if (button.dataset.step) step(button.dataset.step);
  else if (button.dataset.frame !== undefined) show(Number(button.dataset.frame));
  else if (button.id === "viewer-close") viewer.close();
  else if (button.classList.contains("pin")) pin(button.dataset.agent);
});

const keys = { ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last" };
viewer.addEventListener("keydown", (event) => {
  const name = keys[event.key];
  if (!name || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  step(name);
});
viewer.addEventListener("close", () => {
  board.replaceChildren();
  film = null;
  opener?.focus();
});

// What is folded away on the screen is not on paper.
window.addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
});
