// Figures whose parts can be chosen: whatever carries data-choice tells it when it is pressed.
//
// A matrix is one stop for the Tab key; arrows, Home and End go from cell to cell, Enter chooses.
export default {
  template: `<div class="kb-league" @click="click" @keydown="key" @focusin="focused"></div>`,
  props: { html: String },
  mounted() { this.show(); },
  watch: { html() { this.show(); } },
  methods: {
    show() {
      const root = this.$el, within = document.activeElement;
      const had = root.contains(within) ? within.dataset.choice : null;
      const scrolled = [...root.querySelectorAll(".box")].map((box) => [box.scrollLeft, box.scrollTop]);
      const open = [...root.querySelectorAll("details")].map((details) => details.open);
      root.innerHTML = this.html || "";
      root.querySelectorAll("details").forEach((details, at) => { details.open = !!open[at]; });
      root.querySelectorAll(".box").forEach((box, at) => {
        if (scrolled[at]) [box.scrollLeft, box.scrollTop] = scrolled[at];
      });
      const cells = [...root.querySelectorAll(".matrix td > button")];
      cells.forEach((cell) => { cell.tabIndex = -1; });
      const again = had && root.querySelector(`[data-choice="${CSS.escape(had)}"]`);
      const stop = cells.includes(again) ? again : cells[0];
      if (stop) stop.tabIndex = 0;
      if (again) again.focus({ preventScroll: true });
    },
    click(event) {
      const button = event.target.closest("[data-choice]");
      if (button) this.$emit("choose", button.dataset.choice);
    },
    focused(event) {
      if (!event.target.matches(".matrix td > button")) return;
      this.$el.querySelectorAll(".matrix td > button").forEach((cell) => { cell.tabIndex = -1; });
      event.target.tabIndex = 0;
    },
    key(event) {
      const cell = event.target.closest(".matrix td");
      if (!cell || event.ctrlKey || event.metaKey || event.altKey) return;
      const row = cell.parentElement, rows = [...row.parentElement.rows];
      const across = [...row.cells], down = rows.map((other) => other.cells[cell.cellIndex]);
      const way = {
        ArrowRight: across.slice(cell.cellIndex + 1),
        ArrowLeft: across.slice(0, cell.cellIndex).reverse(),
        ArrowDown: down.slice(rows.indexOf(row) + 1),
        ArrowUp: down.slice(0, rows.indexOf(row)).reverse(),
        Home: across,
        End: [...across].reverse(),
      }[event.key];
      if (!way) return;
      event.preventDefault();
      const next = way.map((other) => other.querySelector(":scope > button")).find((button) => button);
      if (next) next.focus();
    },
  },
};
