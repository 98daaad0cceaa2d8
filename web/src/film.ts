// Film mode: the program requests every image of a recording at its own pace and receives them one by one, at the requested size.
// It sends the frames that the film needs, in order; they are drawn as they arrive, so that long recordings need no more memory than short ones.
import { Vector3 } from "three";
import { filmMoments, picture, shootFilm } from "./capture";
import { layersOf } from "./layers/layers";
import type { Player } from "./player";
import type { Film } from "./protocol";
import type { Show } from "./show";

export interface FilmActions { send(message: ArrayBuffer): void; taken(): Promise<void>; arrived(time: number): Promise<void> }

/* What several wait for, again and again. */
export class Pulse {
  private waiting: (() => void)[] = [];
  next(): Promise<void> { return new Promise((go) => this.waiting.push(go)); }
  beat(): void { for (const go of this.waiting.splice(0)) go(); }
}

/* Resolves when the last image was taken. */
export async function makeFilm(show: Show, player: Player, film: Film, { send, taken, arrived }: FilmActions): Promise<void> {
  const { history } = player;
  document.documentElement.dataset.film = "on";
  show.view.fixSize(film.width, film.height);
  const glass = show.layers.has("through"); // walls that hide moving bodies are transparent in a film too
  show.layers.clear();
  for (const name of layersOf(film.show)) show.layers.add(name);
  if (glass) show.layers.add("through");
  show.applyLayers();
  if (film.dark) show.setLight(false);
  const { orbit } = show.view, place = new Vector3();
  const shoot = async (time: number): Promise<Blob> => {
    await arrived(time);
    player.scrub(time);
    show.update(player.moment(), time * 1000);
    if (film.follow >= 0 && show.world) {
      orbit.focus(show.world.position(film.follow, place), 0);
      orbit.jump();
      show.update(player.moment(), time * 1000); // labels and levels of detail as this camera needs them
    }
    return picture(show.view.canvas, () => show.draw());
  };
  player.scrub(history.begin);
  show.update(player.moment(), 0);
  orbit.jump();
  orbit.aim(film.view, film.look, film.zoom);
  await shootFilm(filmMoments(film.from, film.to, film), shoot, send, taken);
  document.documentElement.dataset.film = "done";
}
