import type { Millis } from '../../core/ids.ts'
import type { Place } from '../../rooms/index.ts'

/** The places that one request has at upstreams, each until the request leaves its link, or ends. */
export class HeldPlaces {
  /** At the upstream of the link that the request is at. */
  #places: readonly Place[] = noPlaces
  #early: Promise<Place | undefined> | undefined
  #queued: Millis | undefined
  #isOver = false

  /** How long the request has waited for room; undefined when it has not. */
  get queued(): Millis | undefined {
    return this.#queued
  }

  /** Records a wait for room. */
  addQueued(time: Millis): void {
    this.#queued = (this.#queued ?? 0) + time
  }

  /** Takes a place over. One that comes after the end is given back at once. */
  hold(place: Place): void {
    if (this.#isOver) place.release()
    else this.#places = [...this.#places, place]
  }

  /** Keeps a place at the first link of the chain that is asked for with the admission. */
  holdEarly(early: Promise<Place | undefined> | undefined): void {
    this.#early = early
  }

  /** Returns the place that was asked for with the admission; undefined without one. */
  takeEarly(): Promise<Place | undefined> | undefined {
    const early = this.#early
    this.#early = undefined
    return early
  }

  /** Gives the place back that was asked for with the admission, if it was not taken. */
  dropEarly(): void {
    if (this.#early) void this.takeEarly()?.then((place) => place?.release())
  }

  /** Gives the places of a link back. */
  release(): void {
    if (this.#places.length === 0) return
    const places = this.#places
    this.#places = noPlaces
    for (const place of places) place.release()
  }

  /** Gives everything back: the request has ended. */
  end(): void {
    this.#isOver = true
    this.dropEarly()
    this.release()
  }
}

const noPlaces: readonly Place[] = Object.freeze([])
