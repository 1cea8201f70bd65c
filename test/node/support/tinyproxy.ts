import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { daemon, isInstalled } from './daemon.ts'

/** True if Debian's `tinyproxy` is installed. */
export const hasTinyproxy: boolean = isInstalled('tinyproxy', '-v')

/**
 * Runs tinyproxy, which requires the credential `user:secret`. Names that end in
 * `.test` go to another proxy, since no name server resolves them. Resolves to its port.
 */
export function tinyproxy(next: { readonly port: number }): Promise<number> {
  return daemon('tinyproxy', ({ folder, port }) => {
    const config = join(folder, 'tinyproxy.conf')
    writeFileSync(
      config,
      `Port ${port}
Listen 127.0.0.1
Timeout 60
LogLevel Error
LogFile "${join(folder, 'log')}"
MaxClients 100
BasicAuth user secret
Upstream http 127.0.0.1:${next.port} ".test"
`,
    )
    return ['-d', '-c', config]
  })
}
