import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { blocksOf } from '../../docs/shell.ts'
import { type DaemonPlace, daemon, isInstalled } from './daemon.ts'
import { identity } from './tls.ts'

export type FrontProxy = keyof typeof proxies

/** True if the executable of a reverse proxy is installed. */
export function hasFrontProxy(name: FrontProxy): boolean {
  return isInstalled(name, proxies[name].versionOption)
}

/**
 * Runs a reverse proxy in front of a gateway, configured as in `docs/reverse-proxies.md` with other addresses
 * and files. It speaks TLS as `localhost`. Resolves to its port.
 */
export function frontProxy(name: FrontProxy, gatewayPort: number): Promise<number> {
  return daemon(name, (place) => {
    const { language, place: placed, args } = proxies[name]
    const example = blocksOf('docs/reverse-proxies.md').find(({ info }) => info === language)
    const address = { '127.0.0.1:8080': `127.0.0.1:${gatewayPort}` }
    const config = join(place.folder, 'config')
    writeFileSync(config, placed(withAll(example?.text ?? '', address), place))
    const { key, cert } = identity()
    writeFileSync(join(place.folder, 'key'), key)
    writeFileSync(join(place.folder, 'cert'), cert)
    writeFileSync(join(place.folder, 'both'), cert + key)
    return args(config, place)
  })
}

interface Runner {
  /** The language of the code block with its example. */
  readonly language: string
  readonly versionOption: string
  /** Adapts the example to the test: another port and other files. */
  readonly place: (example: string, place: DaemonPlace) => string
  readonly args: (config: string, place: DaemonPlace) => readonly string[]
}

const proxies = {
  nginx: {
    language: 'nginx',
    versionOption: '-v',
    place: (example, { folder, port }) => {
      const server = withAll(example, {
        'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
        '/etc/ssl/llm.example.com.pem': `${folder}/cert`,
        '/etc/ssl/llm.example.com.key': `${folder}/key`,
        '/var/log/nginx/llm.log': `${folder}/access`,
      })
      const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      const own = folders.map((each) => `${each}_temp_path ${folder}/${each};`).join('\n')
      return `daemon off; master_process off; pid ${folder}/pid; error_log stderr;
        events {}
        http { ${own}\n${server} }`
    },
    args: (config, { folder }) => ['-p', folder, '-c', config, '-e', 'stderr'],
  },
  haproxy: {
    language: 'haproxy',
    versionOption: '-v',
    place: (example, { folder, port }) =>
      withAll(example, {
        'bind :443': `bind 127.0.0.1:${port}`,
        '/etc/haproxy/llm.example.com.pem': `${folder}/both`,
        // Any system allows this many open files.
        'maxconn 8000': 'maxconn 100',
      }),
    args: (config) => ['-db', '-f', config],
  },
  caddy: {
    language: 'caddyfile',
    versionOption: 'version',
    place: (example, { folder, port }) => {
      const own = `https://localhost:${port} {\n\ttls ${folder}/cert ${folder}/key`
      const server = withAll(example, { 'llm.example.com {': own })
      return `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${server}`
    },
    args: (config) => ['run', '--adapter', 'caddyfile', '--config', config],
  },
} as const satisfies Record<string, Runner>

/** Replaces text of the example; fails when the text is missing. */
function withAll(example: string, replacements: Readonly<Record<string, string>>): string {
  return Object.entries(replacements).reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`the example does not hold ${from}`)
    return text.replaceAll(from, to)
  }, example)
}
