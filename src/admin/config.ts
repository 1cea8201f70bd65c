import { headerList } from '../core/ports.ts'
import { jsonBytes, type Reply } from '../core/reply.ts'
import { type AdminRequest, type AdminRouteDeps, type AdminRoutes, readBytes } from './input.ts'
import { noContent } from './render.ts'

export interface ConfigRouteDeps extends AdminRouteDeps {
  readonly document: ConfigDocument
}

/** The configuration file, as these routes read and replace it. */
export interface ConfigDocument {
  get(): Promise<{ readonly config: string; readonly hash: string }>
  /** Resolves to the new hash. Rejects with LM-1001, LM-1002 or LM-1004. */
  put(bytes: Uint8Array, ifMatch: string | null): Promise<string>
}

/** The route of the configuration file. `ETag` is the hash, as `If-Match` takes it. */
export function configRoutes(deps: ConfigRouteDeps): AdminRoutes {
  return {
    '/admin/config': {
      GET: () => showConfig(deps),
      PUT: (matched) => replaceConfig(matched, deps),
    },
  }
}

const encoder = new TextEncoder()

async function showConfig({ document }: ConfigRouteDeps): Promise<Reply> {
  const { config, hash } = await document.get()
  const body = encoder.encode(JSON.stringify({ config, hash }))
  return jsonBytes(body, { headers: headerList({ etag: `"${hash}"` }) })
}

/** The body is the file itself; its content type is ignored. */
async function replaceConfig(matched: AdminRequest, deps: ConfigRouteDeps): Promise<Reply> {
  const bytes = await readBytes(matched, deps)
  const hash = await deps.document.put(bytes, matched.request.headers.get('if-match'))
  const change = { action: 'config.replace', subjectId: hash } as const
  await deps.audit.add(deps.audit.describe(change, matched.context))
  return { ...noContent, headers: headerList({ etag: `"${hash}"` }) }
}
