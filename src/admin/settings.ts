import * as z from 'zod'
import type { TracedSetting } from '../config/index.ts'
import { jsonReply, type Reply } from '../core/reply.ts'
import type { AdminRequest, AdminRoutes } from './input.ts'
import { choice, parseQuery } from './usage-query.ts'

export interface SettingsRouteDeps {
  /** Every setting in force, with credentials masked. */
  readonly traceSettings: () => readonly TracedSetting[]
}

/** The read-only route of the settings in force, which are those of the file, the environment and the defaults. */
export function settingsRoutes(deps: SettingsRouteDeps): AdminRoutes {
  return { '/admin/settings': { GET: (matched) => listSettings(matched, deps) } }
}

const settingsQuery = z.strictObject({ effective: choice(['true', 'false']).default('false') })

function listSettings({ request }: AdminRequest, { traceSettings }: SettingsRouteDeps): Reply {
  const { effective } = parseQuery(settingsQuery, new URL(request.url).searchParams)
  const settings = traceSettings().filter(
    ({ origin }) => effective === 'true' || origin !== 'default',
  )
  return jsonReply({ settings: settings.map(renderSetting) })
}

function renderSetting({ variable, ...traced }: TracedSetting): object {
  return { ...traced, variable: variable ?? null }
}
