
// --- one player in a longer page: it hears keys only while something in it has the focus ---

const root = document.querySelector(".player");
if (root) {
  const player = new Player(root);
  unpacked(document.querySelector(".film").textContent).then((film) => {
    player.load(film);
    player.show(player.last); // from there, play begins at the deal
  });
}
