/** The answers of the admin API that the page reads. */

export interface RecentRequest {
  readonly id: string
  readonly ts: number
  readonly request_id: string
  readonly key_id: string | null
  readonly group_id: string | null
  readonly api: string
  readonly stream: boolean
  readonly model: string | null
  readonly model_used: string | null
  readonly provider: string | null
  readonly status: number
  readonly error_code: string | null
  /** Why the gateway refused the request by itself. */
  readonly reason: string | null
  readonly latency_ms: number
  readonly ttft_ms: number | null
  /** The wait for room at upstreams. */
  readonly queued_ms: number | null
  readonly tokens_in: number | null
  readonly tokens_out: number | null
  readonly estimated: boolean
  readonly cost: number
  readonly cache_hit: boolean
  readonly attempts: number
  readonly failed: readonly FailedLink[]
  /** How many alike requests the row stands for. */
  readonly count: number
}

export interface RequestPage {
  readonly rows: readonly RecentRequest[]
  /** Leads to older requests; null after the last one. */
  readonly next_cursor: string | null
  /** Leads to the requests that come later. */
  readonly after: string
}

export interface FailedLink {
  readonly model: string
  readonly provider: string
  readonly reason: string
  readonly attempts: number
}

export interface Minute {
  readonly starts_at: number
  readonly requests_ok: number
  readonly requests_client_error: number
  readonly requests_server_error: number
  readonly tokens_in: number
  readonly tokens_out: number
  readonly cost: number
  readonly latency_p50_ms: number | null
  readonly latency_p95_ms: number | null
}

export interface ProviderHealth {
  readonly status: 'up' | 'down' | 'unknown'
  readonly detail: string | null
}

/** A limit of calls at once, and what it has taken. */
export interface Room {
  readonly provider: string
  /** Null for the limit of the provider. */
  readonly model: string | null
  readonly max_parallel: number
  readonly running: number
  readonly waiting: number
}

export interface Circuit {
  readonly provider: string
  readonly model: string
  readonly state: 'closed' | 'open' | 'half-open'
  readonly last_failure: { readonly reason: string; readonly at: number } | null
}

export interface CredentialState {
  readonly state: 'missing' | 'parked' | 'partial' | 'present' | 'not_needed'
  readonly detail: string
}

/** What one request with one credential has shown. Null: not known. */
export interface CheckedCredential {
  readonly credential: string
  readonly reachable: boolean | null
  readonly authenticated: boolean | null
  readonly model_known: boolean | null
  readonly first_token_ms: number | null
  readonly cost: number | null
  readonly error: string | null
}

export interface CheckedProvider {
  readonly model: string
  readonly credentials: readonly CheckedCredential[]
}

export interface ParkedCredential {
  readonly provider: string
  /** The variable that holds it. */
  readonly credential: string
  /** Null when it is parked for all models. */
  readonly model: string | null
  readonly reason: 'rate_limited' | 'refused'
  /** Unix seconds. */
  readonly until: number
}

export interface Status {
  readonly version: string
  readonly started_at: number
  readonly now: number
  readonly in_flight: number
  readonly providers: Readonly<Record<string, ProviderHealth>>
  /** By the name of the provider. */
  readonly credentials: Readonly<Record<string, CredentialState>>
  readonly parked_credentials: readonly ParkedCredential[]
  readonly circuits: readonly Circuit[]
  readonly rooms: readonly Room[]
  /** By the name of the provider. */
  readonly model_lists: Readonly<Record<string, ModelList>>
  readonly minutes: readonly Minute[]
}

/** The fields that keys and groups share. */
export interface Subject {
  readonly id: string
  readonly name: string
  readonly models: readonly string[] | null
  readonly budget_max: number | null
  readonly budget_period: string | null
  readonly budget_spent: number
  readonly budget_resets_at: number | null
  readonly spent_total: number
  readonly rpm_limit: number | null
  readonly tpm_limit: number | null
  readonly max_parallel: number | null
  readonly priority: string | null
  readonly created_at: number
}

export interface Key extends Subject {
  readonly group_id: string | null
  readonly expires_at: number | null
  readonly disabled: boolean
}

/** The answer to a creation or a rotation. */
export interface KeyWithSecret extends Key {
  readonly key: string
}

export interface UsageGroup {
  readonly group: string
  readonly requests: number
  readonly requests_ok: number
  /** Refusals, and clients that disconnected. */
  readonly requests_client_error: number
  readonly requests_server_error: number
  readonly tokens_in: number
  readonly tokens_out: number
  readonly cost: number
  /** The time of the latest request, in unix seconds. */
  readonly last_at: number
  readonly intervals: readonly UsageInterval[]
}

/** A part of the costs: a kind of tokens, a tool of the vendor or a fee. */
export interface UsagePart {
  readonly name: string
  readonly count: number
  readonly cost: number
}

export interface UsageInterval {
  readonly start: number
  readonly cost: number
}

/** A model of the configuration. */
export interface ModelReport {
  readonly id: string
  readonly provider: string
  readonly kind: string
  readonly upstream_id: string
  readonly is_pattern: boolean
  readonly capabilities: readonly string[]
  readonly modalities: readonly string[]
  readonly context_window: number | null
  readonly max_input_tokens: number | null
  readonly max_output_tokens: number | null
  /** Null for a pattern. */
  readonly fallbacks: readonly string[] | null
  /** US dollars, by names such as `input_per_1m`. */
  readonly prices: Readonly<Record<string, number>> | null
  readonly prices_vary: boolean
  readonly cost_reported: boolean
  readonly missing_prices: readonly string[]
}

/** A model that a vendor lists and a pattern serves. */
export interface DiscoveredModel {
  readonly id: string
  readonly provider: string | null
}

export interface ModelReports {
  readonly models: readonly ModelReport[]
  readonly discovered: readonly DiscoveredModel[]
}

/** The list of models of a vendor. */
export interface ModelList {
  readonly models: number | null
  readonly listed_at: number | null
  /** Why it could not be read last. */
  readonly failure: string | null
}

export interface RouteLink {
  readonly model: string
  readonly provider: string
  readonly circuit: string
  readonly in_flight: number
}

export interface RouteTarget extends RouteLink {
  readonly weight: number
  readonly ttft_ms: number | null
  readonly latency_ms: number | null
}

export interface RouteReport {
  readonly id: string
  readonly strategy: string
  readonly affinity: 'off' | 'session' | 'prefix'
  readonly affinity_ttl_seconds: number | null
  /** Of a switch; null for other routes. */
  readonly cases: readonly SwitchCase[] | null
  readonly default: string | null
  readonly targets: readonly RouteTarget[]
  readonly fallbacks: readonly RouteLink[]
}

export interface SwitchCase {
  readonly target: string
  readonly conditions: readonly string[]
}

/** A setting in force. */
export interface Setting {
  readonly setting: string
  readonly value: unknown
  readonly origin: 'file' | 'environment' | 'default'
  readonly variable: string | null
}

/** A change that an operator made. */
export interface AuditRow {
  readonly id: number
  readonly ts: number
  readonly action: string
  readonly subject_id: string | null
  readonly request_id: string | null
  readonly client: string | null
}
