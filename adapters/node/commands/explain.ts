import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import { isTable } from '../../../src/config/index.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import type { Environment } from '../../../src/index.ts'
import { findConfigWithoutAuth } from '../admin/auth-off.ts'
import { addAdminOptions, withAdmin } from '../admin/client.ts'
import { defaultConfig, readConfigText } from '../config/config-text.ts'
import { CommandFailure } from '../failures/command-failure.ts'
import { DatabaseMissing } from '../failures/database-failure.ts'
import { printJson } from '../output/json.ts'
import { createStyle } from '../output/style.ts'
import { print, printNote } from '../process/print.ts'
import { readText } from '../process/system.ts'
import { renderExplained } from './explain-text.ts'

/** Adds `explain`, which says how a request would be handled. */
export function addExplainCommand(root: Command): void {
  const explain = root
    .command('explain')
    .description('say how a request would be handled, without sending it')
    .argument('<request>', 'file with the JSON of the request; - for standard input')
    .option('--path <path>', 'path of the request (default: /v1/chat/completions)')
    .option('--key <id>', 'id of the key that sends it (default: no key, so no limit)')
    .option('--session <name>', 'session of the request, as the header x-gateway-session names it')
    .option('--json', 'print the answer of the admin API')
  addAdminOptions(explain)
    .addHelpText('after', examples)
    .action((file: string, options: ExplainOptions, command: Command) =>
      runExplain(file, options, command),
    )
}

const examples = `
The file holds the body of a request, or {"path", "body", "key_id", "session", "metadata"} as POST /admin/explain takes it.
With auth off there is no admin API: then this process reads the configuration, and knows no circuits.

Examples:
  gateway explain request.json
  gateway explain request.json --path /v1/messages --key 3f2a…
  echo '{"model": "gpt-5", "messages": [{"role": "user", "content": "Hi"}]}' | gateway explain -`

interface ExplainOptions {
  readonly path?: string
  readonly key?: string
  readonly session?: string
  readonly json?: boolean
  readonly config?: string
  readonly url?: string
}

/** The body of `POST /admin/explain`. */
interface Question {
  readonly path: string
  readonly body: unknown
  readonly key_id?: string
  readonly session?: string
  readonly metadata?: object
}

async function runExplain(file: string, options: ExplainOptions, command: Command): Promise<void> {
  const given: ExplainOptions = { ...command.optsWithGlobals(), ...options }
  const question = toQuestion(await readRequest(file), given)
  const { config: name = defaultConfig } = given
  const config = await findConfigWithoutAuth(given)
  const answer =
    config === undefined
      ? await withAdmin({ command }, (admin) =>
          admin.send('POST', '/admin/explain', question),
        ).catch((failure: unknown) => explainWithoutDatabase(failure, { given, question }))
      : await explainHere(question, { name, config, env: process.env })
  if (given.json) return printJson(answer)
  await print(renderExplained(answer, createStyle()))
}

async function readRequest(file: string): Promise<unknown> {
  const name = file === '-' ? 'standard input' : file
  let json: string
  try {
    json = file === '-' ? await text(process.stdin) : await readFile(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CommandFailure(2, `${name}: cannot be read (${code})`)
  }
  try {
    return JSON.parse(json)
  } catch {
    throw new CommandFailure(2, `${name}: not valid JSON`)
  }
}

/** The file may hold the whole question, or the body alone. Options win. */
function toQuestion(read: unknown, { path, key, session }: ExplainOptions): Question {
  const isWhole = isTable(read) && 'body' in read && !('model' in read)
  const question = isWhole ? read : { body: read }
  // The admin API checks the values.
  return {
    path: '/v1/chat/completions',
    ...question,
    ...(path !== undefined && { path }),
    ...(key !== undefined && { key_id: key }),
    ...(session !== undefined && { session }),
  } as Question
}

interface Asked {
  readonly given: ExplainOptions
  readonly question: Question
}

/** Before the first start there are no keys and no stored provider keys, so a request without a key needs none. */
async function explainWithoutDatabase(failure: unknown, { given, question }: Asked) {
  if (!(failure instanceof DatabaseMissing) || question.key_id !== undefined) throw failure
  const config = await readConfigText(given.config)
  const env = { ...process.env, GATEWAY_AUTH__ENABLED: 'false' }
  const { checkConfig } = await import('../../../src/index.ts')
  const verdict = await checkConfig(config, env, { readFile: readText })
  if (!verdict.ok) throw failure
  await printNote(`warning: ${failure.message}`)
  return explainHere(question, { name: given.config ?? defaultConfig, config, env })
}

interface Here {
  /** The name of the configuration in messages. */
  readonly name: string
  readonly config: string
  readonly env: Environment
}

/** Explains a request in this process. */
async function explainHere({ path, body, key_id: key, metadata }: Question, here: Here) {
  if (key !== undefined) throw new CommandFailure(2, 'auth.enabled is false, so there are no keys')
  const { openOfflineGateway } = await import('../admin/offline.ts')
  const { gateway, close } = await openOfflineGateway({ ...here, onMissing: 'reject' })
  try {
    const answer = await gateway.explain({
      path,
      body: JSON.stringify(body),
      metadata: metadata && JSON.stringify(metadata),
    })
    return JSON.parse(answer) as unknown
  } catch (error) {
    if (error instanceof GatewayError) throw new CommandFailure(2, error.message)
    throw error
  } finally {
    await close()
  }
}
