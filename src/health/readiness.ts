/** Whether a gateway should get new requests. It depends on the gateway alone, not on its providers. */
export class Readiness {
  #isDraining = false

  get status(): 'ready' | 'draining' {
    return this.#isDraining ? 'draining' : 'ready'
  }

  /** Reports `draining` from now on. */
  startDraining(): void {
    this.#isDraining = true
  }
}
