import { clouds } from './clouds.ts'
import { makers } from './makers.ts'
import type { Platform } from './platform.ts'
import { servers } from './servers.ts'

export type { Platform } from './platform.ts'

/*
 * The rows state what differs from `unknownProfile`, by the vendors' references and SDKs and the sources of the
 * servers (linked) as of November 2026. What depends on the model is in `families.ts`.
 */
export const platforms: readonly Platform[] = [...makers, ...clouds, ...servers]

/** Returns the platform of an address; undefined for a host that no row names. */
export function findPlatformByHost(baseUrl: string): Platform | undefined {
  const host = `.${new URL(baseUrl).hostname.toLowerCase()}`
  return platforms.find(({ hosts = [] }) =>
    hosts.some((end) => host.endsWith(end.startsWith('.') ? end : `.${end}`)),
  )
}

export function getPlatform(name: string): Platform | undefined {
  return platforms.find((platform) => platform.name === name)
}
