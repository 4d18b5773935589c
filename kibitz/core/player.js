"use strict";
// A player steps through a film: the pictures of a game, its moves, and how it ended. Its parts
// are found by their classes below `root`; keys are heard on `listener`.
// All words are set as text and all pictures are parsed as SVG, never as HTML.

const PACE = 900; // milliseconds for each move while a film plays by itself
const KEYS = { ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last", " ": "play" };

async function unpacked(text) {
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

class Player {
  constructor(root, listener = root) {
    this.root = root;
    this.signs = [...root.dataset.signs];
    this.board = root.querySelector(".stage > .board"); // whose drawing has classes of its own
    for (const name of ["slider", "count", "now", "moves"]) {
      this[name] = root.querySelector(`.beside .${name}`);
    }
    this.film = null;
    this.frame = 0;
    this.timer = null;
    this.slider.addEventListener("input", () => {
      this.pause();
      this.show(Number(this.slider.value));
    });
    root.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button?.dataset.step) this.step(button.dataset.step);
      else if (button?.dataset.frame !== undefined) {
        this.pause();
        this.show(Number(button.dataset.frame));
      }
    });
    listener.addEventListener("keydown", (event) => {
      const name = KEYS[event.key];
      if (!name || !this.film || event.altKey || event.ctrlKey || event.metaKey) return;
      if (name === "play" && event.target.closest?.("button")) return; // it is pressed
      event.preventDefault();
      this.step(name);
    });
  }

  get last() {
    return this.film.frames.length - 1;
  }

  mark(seat) {
    const at = seat % this.signs.length;
    const ring = seat >= this.signs.length ? " ring" : "";
    const node = made("span", this.signs[at], `mark seat${at}${ring}`);
    node.setAttribute("aria-hidden", "true");
    return node;
  }

  load(film) {
    this.pause();
    this.film = film;
    this.board.style.aspectRatio = this.tallest();
    this.slider.max = this.last;
    this.moves.replaceChildren(
      ...[null, ...film.moves].map((move, at) => {
        const button = made("button");
        button.type = "button";
        button.dataset.frame = at;
        button.append(made("span", String(at), "ply"));
        if (move) button.append(this.mark(move[0]), made("span", move[1]));
        else button.append(made("span", "The deal"));
        const item = made("li");
        item.append(button);
        return item;
      }),
    );
    this.root.classList.remove("still");
    this.show(0);
  }

  unload() {
    this.pause();
    this.board.replaceChildren();
    this.film = null;
  }

  // Pictures may differ in height: the tallest makes the room, so that nothing below it jumps.
  tallest() {
    const roots = this.film.pieces.filter((piece) => /^<svg[^>]* class="kibitz /.test(piece));
    const sides = roots.map((root) => root.match(/viewBox="\S+ \S+ (\S+) (\S+)"/));
    return Math.min(...sides.filter(Boolean).map(([, width, height]) => width / height));
  }

  step(name) {
    if (name === "play") {
      this.timer === null ? this.play() : this.pause();
      return;
    }
    this.pause();
    this.show({ first: 0, back: this.frame - 1, forward: this.frame + 1, last: this.last }[name]);
  }

  play() {
    if (this.frame === this.last) this.show(0);
    this.timer = setInterval(() => {
      this.show(this.frame + 1);
      if (this.frame === this.last) this.pause();
    }, PACE);
    this.playing(true);
  }

  pause() {
    clearInterval(this.timer);
    this.timer = null;
    this.playing(false);
  }

  playing(now) {
    this.root.classList.toggle("playing", now);
    const button = this.root.querySelector('[data-step="play"]');
    button.setAttribute("aria-label", now ? "Pause" : "Play");
    button.title = `${now ? "Pause" : "Play"} (space)`;
    // Whoever watches would have every move read out over the last one.
    this.now.setAttribute("aria-live", now ? "off" : "polite");
  }

  show(at) {
    const { film, last } = this;
    this.frame = Math.min(Math.max(at, 0), last);
    const text = film.frames[this.frame].map((piece) => film.pieces[piece]).join("");
    const drawn = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    this.board.replaceChildren(document.importNode(drawn, true));
    this.count.value = `${this.frame} / ${last}`;
    this.slider.value = this.frame;
    if (this.frame === 0) {
      this.now.replaceChildren("The deal");
    } else {
      const [seat, words] = film.moves[this.frame - 1];
      this.now.replaceChildren(this.mark(seat), made("b", film.names[seat]), ` ${words}`);
    }
    this.slider.setAttribute("aria-valuetext", `${this.frame}: ${this.now.textContent}`);
    if (this.frame === last && film.over) {
      const each = film.names.map((name, seat) => `${name} ${film.points[seat]}`).join(", ");
      const points = film.together ? film.points[0] : each;
      this.now.append(made("span", `The game is over. Points: ${points}.`, "end"));
    }
    for (const button of this.root.querySelectorAll("[data-step]")) {
      const name = button.dataset.step;
      if (name === "play") continue;
      const back = name === "first" || name === "back";
      // Not `disabled`, which would take the focus away from whoever holds the button.
      button.setAttribute("aria-disabled", String(back ? this.frame === 0 : this.frame === last));
    }
    this.moves.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const current = this.moves.children[this.frame];
    current.firstElementChild.setAttribute("aria-current", "step");
    // The list is scrolled, and nothing around it.
    const top = current.offsetTop - (this.moves.clientHeight - current.offsetHeight) / 2;
    this.moves.scrollTo({ top, behavior: "instant" });
  }
}
