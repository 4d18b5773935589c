// The board: shows a drawing and turns clicks, touches and keys on it into actions.
//
// Whatever carries data-action plays it. Three gestures make some actions easier to reach:
//   pick    own hand, then another hand (data-hand, data-on); a tile, then a line (data-tile, data-line)
//   turn    a cell with several rotations (.cell[data-place]): click to hold the tile there, click
//           again to turn it, Enter or the tick to lay it
//   choose  where two things picked leave several actions, a small list asks which
const FADE = 200; // milliseconds
const WIDE = 700; // drawings that are wider than this scroll on a phone

export default {
  template: `
    <div class="kb-board" role="application" tabindex="-1" :aria-label="label"
         @click="click" @keydown="key">
      <div class="kb-now" ref="now"></div>
      <div v-if="asked.length" class="kb-ask" :style="{left: askAt[0] + 'px', top: askAt[1] + 'px'}">
        <button v-for="one in asked" :key="one.action" type="button" class="kb-chip"
                @click.stop="act(one.action)">{{ one.words }}</button>
      </div>
      <div v-if="held" class="kb-ask kb-held" :style="{left: askAt[0] + 'px', top: askAt[1] + 'px'}">
        <button v-if="held.actions.length > 1" type="button" class="kb-chip" title="Turn (r)"
                aria-label="turn the tile" @click.stop="turn">⟳</button>
        <button type="button" class="kb-chip kb-lay" title="Lay it here (Enter)"
                aria-label="lay the tile here" @click.stop="act(held.actions[held.at])">✓</button>
      </div>
    </div>`,
  props: { svg: String, plies: Number, live: Boolean, label: String },
  data: () => ({ asked: [], askAt: [0, 0], held: null, picked: null }),
  mounted() {
    this.show(false);
    document.addEventListener("keydown", this.anywhere);
  },
  unmounted() {
    document.removeEventListener("keydown", this.anywhere);
  },
  watch: {
    svg() { this.show(true); },
    live() { this.mark(); },
  },
  methods: {
    show(moves) {
      const now = this.$refs.now;
      const focused = this.focusOf(document.activeElement);
      const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
      if (moves && !calm && now.firstElementChild && !document.hidden) {
        now.parentElement.querySelectorAll(".kb-before").forEach((old) => old.remove());
        const before = document.createElement("div");
        before.className = "kb-before";
        before.setAttribute("aria-hidden", "true");
        before.append(...now.childNodes);
        before.querySelectorAll("[data-action]").forEach((old) => {
          old.removeAttribute("data-action");
          old.removeAttribute("tabindex");
        });
        now.after(before);
        setTimeout(() => before.remove(), FADE + 60);
      }
      now.innerHTML = this.svg || "";
      const box = now.querySelector("svg")?.viewBox.baseVal;
      this.$el.classList.toggle("kb-wide", Boolean(box && box.width > WIDE));
      this.letGo();
      this.waiting = false;
      this.mark();
      // Where the keyboard was, or at least on the board: the next Tab finds the first move.
      if (focused) (now.querySelector(focused) || this.$el).focus({ preventScroll: true });
    },
    // Where the keyboard was, so that it can be there again after the board was drawn anew.
    focusOf(element) {
      if (!element || !this.$refs.now.contains(element)) return null;
      const group = element.closest("[data-action]");
      return group ? `[data-action="${group.dataset.action}"]` : null;
    },
    mark() {
      this.$refs.now.classList.toggle("kb-live", this.live);
      this.$refs.now.querySelectorAll("[data-action]").forEach((group) => {
        if (this.live) group.setAttribute("tabindex", "0");
        else group.setAttribute("tabindex", "-1");
        group.setAttribute("aria-label", group.querySelector("title")?.textContent || "");
      });
    },
    letGo() {
      this.asked = [];
      this.held = null;
      this.picked = null;
      this.$refs.now.querySelectorAll(".kb-picked").forEach((old) => old.classList.remove("kb-picked"));
      this.$refs.now.querySelectorAll(".chosen").forEach((old) => old.classList.remove("chosen"));
      this.$refs.now.querySelectorAll(".choosing").forEach((old) => old.classList.remove("choosing"));
    },
    act(action) {
      if (!this.live || this.waiting) return;
      this.waiting = true; // until the board changes, or the server says no
      this.letGo();
      this.$refs.now.querySelectorAll(`[data-action="${action}"]`).forEach((one) => one.classList.add("kb-sent"));
      this.$emit("act", { action: Number(action), plies: this.plies });
    },
    // The server has refused: let the person try again.
    release() {
      this.waiting = false;
      this.$refs.now.querySelectorAll(".kb-sent").forEach((one) => one.classList.remove("kb-sent"));
    },
    click(event) {
      if (!this.live || event.target.closest(".kb-ask")) return;
      const button = event.target.closest("[data-action]");
      const cell = event.target.closest(".cell[data-place]");
      if (cell && cell.querySelector("[data-action]")) return this.hold(cell, button);
      if (button) return this.act(button.dataset.action);
      const thing = event.target.closest("[data-hand],[data-tile],[data-line]");
      if (!thing) return this.letGo();
      this.pick(thing);
    },
    // --- two things, one after the other ---
    pick(thing) {
      const { hand, tile, line } = thing.dataset;
      const first = this.picked;
      const all = [...this.$refs.now.querySelectorAll("[data-action]")];
      let found = [];
      if (first?.hand && hand && hand !== first.hand) {
        found = all.filter((one) => one.dataset.hand === first.hand && one.dataset.on === hand);
      } else if (first?.tile && line) {
        found = all.filter((one) => one.dataset.tile === first.tile && one.dataset.line === line);
      }
      if (found.length === 1) return this.act(found[0].dataset.action);
      if (found.length > 1) return this.ask(found, thing);
      this.letGo();
      const able = all.some((one) => (hand && one.dataset.hand === hand) || (tile && one.dataset.tile === tile));
      if (!able) return;
      this.picked = { hand, tile };
      thing.classList.add("kb-picked");
    },
    ask(found, near) {
      this.asked = found.map((one) => ({
        action: one.dataset.action, words: one.querySelector("title")?.textContent || one.textContent,
      }));
      this.place(near);
      this.$nextTick(() => this.$el.querySelector(".kb-ask button")?.focus());
    },
    place(near) {
      const box = near.getBoundingClientRect(), own = this.$el.getBoundingClientRect();
      this.askAt = [box.left + box.width / 2 - own.left + this.$el.scrollLeft,
                    box.bottom - own.top + this.$el.scrollTop];
    },
    // --- a tile that is turned where it shall lie ---
    hold(cell, button) {
      const actions = [...cell.querySelectorAll("[data-action]")].map((one) => one.dataset.action);
      if (this.held && this.held.place === cell.dataset.place) {
        if (actions.length === 1) return this.act(actions[0]);
        return this.turn();
      }
      this.letGo();
      const at = button ? Math.max(0, actions.indexOf(button.dataset.action)) : 0;
      this.held = { place: cell.dataset.place, actions, at };
      this.place(cell);
      this.lift();
    },
    turn() {
      this.held.at = (this.held.at + 1) % this.held.actions.length;
      this.lift();
    },
    lift() {
      const now = this.$refs.now;
      now.querySelectorAll(".chosen").forEach((old) => old.classList.remove("chosen"));
      const shown = now.querySelector(`[data-action="${this.held.actions[this.held.at]}"]`);
      shown?.classList.add("chosen");
      shown?.closest(".cell")?.classList.add("choosing");
    },
    // --- keys ---
    key(event) {
      if (event.key !== "Enter" && event.key !== " ") return;
      if (event.target.closest(".kb-ask")) return;
      const button = event.target.closest?.("[data-action]");
      if (!button || !this.live) return;
      event.preventDefault();
      event.stopPropagation();
      const cell = button.closest(".cell[data-place]");
      if (cell && this.held?.place === cell.dataset.place) return this.act(this.held.actions[this.held.at]);
      if (cell) return this.hold(cell, button);
      this.act(button.dataset.action);
    },
    anywhere(event) {
      if (event.target.closest?.("input,textarea,select,[contenteditable]")) return;
      if (event.key === "Escape") this.letGo();
      if (!this.held || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "r") this.turn();
      if (event.key === "Enter" && !this.$el.contains(event.target)) this.act(this.held.actions[this.held.at]);
    },
  },
};
