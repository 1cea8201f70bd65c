/** Returns why a server cannot be used, from its answer to INFO; undefined when it can. */
export function findServerProblem(info: string): string | undefined {
  const facts = new Map(
    info.split(/\r?\n/).map((line) => {
      const [name = '', value = ''] = line.split(':')
      return [name, value] as const
    }),
  )
  return findVersionProblem(facts) ?? findEvictionProblem(facts.get('maxmemory_policy'))
}

type Facts = ReadonlyMap<string, string>

/** Valkey also reports the version of Redis that it is compatible with. */
function findVersionProblem(facts: Facts): string | undefined {
  const valkey = facts.get('valkey_version')
  if (valkey !== undefined) {
    return isAtLeast(valkey, 7, 2)
      ? undefined
      : `Valkey ${valkey} is too old; 7.2 or later is needed`
  }
  const redis = facts.get('redis_version') ?? 'of unknown version'
  return isAtLeast(redis, 7, 0) ? undefined : `Redis ${redis} is too old; 7.0 or later is needed`
}

function isAtLeast(version: string, major: number, minor: number): boolean {
  const [ownMajor = 0, ownMinor = 0] = version.split('.').map(Number)
  return ownMajor > major || (ownMajor === major && ownMinor >= minor)
}

/** Only the policies that never remove a key without an expiry keep the state. */
function findEvictionProblem(policy = 'noeviction'): string | undefined {
  if (policy === 'noeviction' || policy.startsWith('volatile-')) return undefined
  return `the server may evict any key (maxmemory-policy ${policy}); set it to noeviction`
}

/**
 * Returns why a connection that failed would fail every time: the credential, the permissions or the
 * certificate; undefined for a failure that may pass. Contains nothing of the address.
 */
export function findLastingProblem(error: unknown): string | undefined {
  const { message = '', code = '' } = error as { message?: string; code?: string }
  const [word = ''] = message.split(' ')
  if (word === 'NOAUTH') return 'the server requires a password (NOAUTH)'
  if (word === 'WRONGPASS' || /^ERR (?:invalid password|AUTH)/.test(message)) {
    return `the server refuses the user name or the password (${word})`
  }
  if (word === 'NOPERM')
    return 'the user lacks a permission (NOPERM); it needs INFO, FUNCTION and FCALL'
  if (/^(?:ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO)/.test(code)) {
    return `the certificate of the server is not trusted, or it does not speak TLS (${code})`
  }
  return undefined
}

/**
 * The errors with which a server refuses to run a function now: it is full, read-only, loading or busy, or hands the
 * slot of all keys over to another node, which has only a part of them until then.
 */
const refusals =
  /^-?(OOM|READONLY|LOADING|MISCONF|BUSY|NOREPLICAS|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|ASK|NOAUTH|NOPERM)\b/

/** Returns the word of a refusal, such as `OOM`; undefined for any other error. */
export function findRefusal(error: unknown): string | undefined {
  return refusals.exec((error as Error).message)?.[1]
}

/** Where a server is; a host or a port that is absent is that from before. */
export interface Address {
  readonly host?: string
  readonly port?: number
}

/** Returns the node of a cluster that has the slot of a command; undefined for any other error. */
export function findMove(error: unknown): Address | undefined {
  const [, host, port] = /^MOVED \d+ (.*):(\d+)$/.exec((error as Error).message) ?? []
  return port === undefined ? undefined : { ...(host && { host }), port: Number(port) }
}

/** Whether the server lacks a function: it was emptied, or has not had this release before. */
export function isFunctionMissing(error: unknown): boolean {
  return (error as Error).message.startsWith('ERR Function not found')
}

/** Returns a short name for an error that has no credential in it. */
export function nameFailure(error: unknown): string {
  const { name, message, code } = error as Error & { code?: string }
  if (code !== undefined) return code
  if (message === 'Command timed out') return 'timeout'
  return findRefusal(error) ?? name
}
