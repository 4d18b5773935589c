// The moves of a game: numbered, with the seat's mark, what each cost, and the one that is shown.
export default {
  template: `
    <div class="kb-moves" ref="list" role="listbox" aria-label="moves">
      <button v-for="move in listed" :key="move.ply" type="button" role="option"
              :aria-selected="move.ply === shown" :class="['kb-move', {at: move.ply === shown}]"
              @click="$emit('go', move.ply)">
        <span class="kb-ply">{{ move.ply }}</span>
        <svg class="kb-mark" viewBox="0 0 16 16" v-html="marks[move.seat]"></svg>
        <span class="kb-words">{{ move.words }}</span>
        <span v-if="move.cost" :class="['kb-cost', 'g' + move.grade]" :title="move.better">{{ move.cost }}</span>
      </button>
      <div v-if="!listed.length" class="kb-empty">{{ empty }}</div>
    </div>`,
  props: { moves: String, marks: Array, at: Number, empty: String },
  data() { return { listed: JSON.parse(this.moves), shown: this.at }; },
  mounted() { this.reveal(); },
  updated() { this.reveal(); },
  methods: {
    // From a place on, the moves are these now: a long game is not sent again for every move.
    patch(place, moves, at) {
      this.listed = [...this.listed.slice(0, place), ...moves];
      this.shown = at;
    },
    reveal() {
      const list = this.$refs.list, at = list.querySelector(".at");
      if (!at) { list.scrollTop = this.shown ? list.scrollHeight : 0; return; }
      const low = at.offsetTop - list.offsetTop, high = low + at.offsetHeight;
      if (low < list.scrollTop) list.scrollTop = low;
      if (high > list.scrollTop + list.clientHeight) list.scrollTop = high - list.clientHeight;
    },
  },
};
