
// --- a page that is nothing but a player ---

const player = new Player(document.querySelector(".player"), document);
unpacked(document.querySelector(".film").textContent).then((film) => player.load(film));
