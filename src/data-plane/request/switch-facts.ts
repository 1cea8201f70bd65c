import type { Account } from '../../core/accounts.ts'
import type { Principal } from '../../core/admission.ts'
import type { Api } from '../../core/capability.ts'
import type { Millis } from '../../core/ids.ts'
import type { Metadata } from '../../core/metadata.ts'
import type { SwitchFacts } from '../../core/switch.ts'
import { AskedContent } from './asked-content.ts'

/** A request as far as a switch can choose by its body. */
export interface SwitchedRequest {
  readonly bytes: Uint8Array
  /** Whether it has images; absent where the parts of its body show it. */
  readonly hasImages?: boolean
  /** Estimates the tokens of the prompt. */
  countInput(): number
}

export interface SwitchFactsOptions {
  readonly api: Api
  readonly stream: boolean
  readonly principal: Principal
  readonly metadata: Metadata
  readonly at: Millis
  readonly request: SwitchedRequest
}

/** The facts of one request, which are found out when a case asks for them. */
export class RequestFacts implements SwitchFacts {
  readonly api: Api
  readonly stream: boolean
  readonly metadata: Metadata
  readonly at: Millis
  readonly #principal: Principal
  readonly #request: SwitchedRequest
  readonly #content: AskedContent

  constructor({ api, stream, principal, metadata, at, request }: SwitchFactsOptions) {
    this.api = api
    this.stream = stream
    this.metadata = metadata
    this.at = at
    this.#principal = principal
    this.#request = request
    this.#content = new AskedContent(request.bytes)
  }

  get account(): Account | undefined {
    return this.#principal.account
  }

  get budgetUsed(): number | undefined {
    return this.#principal.budgetUsed
  }

  get hasTools(): boolean {
    return this.#content.hasTools
  }

  get hasImages(): boolean {
    return this.#request.hasImages ?? this.#content.hasImages
  }

  get hasFiles(): boolean {
    return this.#content.hasFiles
  }

  get inputTokens(): number {
    return this.#request.countInput()
  }
}
