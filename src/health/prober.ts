import { toFailure } from '../core/failure.ts'
import type { Millis, UnixSeconds } from '../core/ids.ts'
import { describeNetworkFailure, isOutOfFiles } from '../core/network-failure.ts'
import type { Clock, Timer } from '../core/ports.ts'
import type { Provider } from '../core/provider.ts'
import type { Probe } from '../core/provider-kind.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import { version } from '../core/version.ts'
import { probeRoot } from '../providers/index.ts'
import { CancelScope } from '../wire/cancel-scope.ts'
import { LightAbortController } from '../wire/light-abort-controller.ts'
import type { Activity } from './activity.ts'

/** The state of a provider, from a probe or from a response to a call. */
export interface ProbeResult {
  readonly status: 'up' | 'down'
  readonly checkedAt: UnixSeconds
  /** The latency of the probe; null when a response made the probe unnecessary. */
  readonly latency: Millis | null
  /** Why the provider is down, without addresses. */
  readonly detail: string | null
}

export interface ProberOptions {
  readonly clock: Clock
  /** The current providers, which a reload may change. */
  readonly providers: () => readonly Provider[]
  readonly policy: () => { readonly enabled: boolean; readonly interval: Millis }
  readonly activity: Pick<Activity, 'sinceLastAnswer' | 'isExpectingAnswer'>
}

const probeTimeout: Millis = 5000

/**
 * Probes providers at the configured interval, unless they have just answered a call. Only providers
 * with a `base_url` are probed, never the built-in addresses of vendors. A probe costs no tokens and
 * carries no credential.
 */
export class Prober {
  readonly #options: ProberOptions
  readonly #results = new Map<string, ProbeResult>()
  #scope: CancelScope
  /** Set between two rounds. */
  #timer: Timer | undefined
  #interval: Millis = 0
  #isRunning = false

  constructor(options: ProberOptions) {
    this.#options = options
    this.#scope = new CancelScope(options.clock)
  }

  /**
   * Starts the rounds if health checks are enabled. Called again after a reload, it probes at once
   * when the policy or the list of providers has changed.
   */
  start(): void {
    const { enabled, interval } = this.#options.policy()
    if (!this.#isRunning) {
      if (enabled) void this.#round()
      return
    }
    if (!this.#timer) return
    const isKnown = ({ name }: Provider) => this.#results.has(name)
    const isSame = enabled && interval === this.#interval
    if (isSame && this.#options.providers().filter(isProbed).every(isKnown)) return
    this.#timer.cancel()
    void this.#round()
  }

  /** Ends the rounds and every running probe. */
  stop(): void {
    this.#timer?.cancel()
    this.#scope.end({ kind: 'shutdown' })
  }

  /** The last result for a provider; undefined when it is not probed, or not yet. */
  getResult(provider: Provider): ProbeResult | undefined {
    const isWatched = this.#isRunning && isProbed(provider)
    return (isWatched && this.#answered(provider)) || this.#results.get(provider.name)
  }

  async #round(): Promise<void> {
    const { clock, policy, providers } = this.#options
    const { enabled, interval } = policy()
    this.#timer = undefined
    this.#interval = interval
    this.#isRunning = enabled
    if (!enabled) return this.#results.clear()
    const probed = providers().filter(isProbed)
    const names = new Set<string>(probed.map(({ name }) => name))
    for (const name of this.#results.keys()) if (!names.has(name)) this.#results.delete(name)
    await Promise.all(
      probed.map(async (provider) => {
        const result = await this.#check(provider)
        if (result && !this.#scope.ended) this.#results.set(provider.name, result)
      }),
    )
    if (this.#scope.ended) return
    this.#timer = clock.schedule(interval, () => void this.#round())
  }

  /** Probes a provider; undefined while a call waits for its response, which a probe could abort. */
  async #check(provider: Provider): Promise<ProbeResult | undefined> {
    const answered = this.#answered(provider)
    if (answered) return answered
    if (this.#options.activity.isExpectingAnswer(provider)) return undefined
    return this.#probe(provider)
  }

  /** Up when the provider is answering a call or has answered one within the interval. */
  #answered(provider: Provider): ProbeResult | undefined {
    const { activity, clock } = this.#options
    const ago = activity.sinceLastAnswer(provider, this.#interval)
    if (ago === undefined) return undefined
    const checkedAt = Math.floor((clock.now() - ago) / 1000)
    return { status: 'up', checkedAt, latency: null, detail: null }
  }

  async #probe(provider: Provider): Promise<ProbeResult | undefined> {
    const { clock } = this.#options
    const started = clock.elapsed()
    const scope = this.#scope.open()
    scope.endAfter(probeTimeout, { kind: 'timeout', limit: 'read' })
    const detail = await findProblem(provider, scope).finally(() => scope.close())
    if (detail === undefined) return undefined
    return {
      status: detail === null ? 'up' : 'down',
      checkedAt: unixSeconds(clock),
      latency: Math.round(clock.elapsed() - started),
      detail,
    }
  }
}

function isProbed({ hasCustomBaseUrl, kind }: Provider): boolean {
  return hasCustomBaseUrl && kind.createUpstream === undefined
}

function createProbe({ kind, baseUrl, healthPath }: Provider): Probe {
  const probe = (kind.probe ?? probeRoot)(baseUrl)
  if (healthPath === undefined) return probe
  return { url: new URL(healthPath, probe.url).href, expects: 'success' }
}

/** Why a provider is down; null when it is up, undefined when no file descriptor was free to ask it. */
async function findProblem(
  provider: Provider,
  scope: CancelScope,
): Promise<string | null | undefined> {
  const { url, expects } = createProbe(provider)
  const cancel = new LightAbortController()
  scope.onEnd(() => cancel.abort())
  try {
    const pending = provider.send({
      method: 'GET',
      url,
      headers: { 'user-agent': `model-gateway/${version}` },
      connectTimeout: provider.connectTimeout,
      dedicatedPool: provider.dedicatedPool,
      queueLimit: 64 * 1024,
      signal: cancel,
    })
    const { status, body } = await scope.race(pending)
    body.drain()
    return expects === 'answer' || (status >= 200 && status < 300) ? null : `status ${status}`
  } catch (error) {
    const failure = scope.ended ?? toFailure(error)
    if (failure.kind !== 'network') return 'no answer in time'
    return isOutOfFiles(failure) ? undefined : describeNetworkFailure(failure)
  }
}
