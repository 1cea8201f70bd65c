import type { Command } from 'commander'
import * as z from 'zod'
import { GatewayError } from '../../../src/core/errors.ts'
import { findConfigWithoutAuth } from '../admin/auth-off.ts'
import { type AdminClient, addAdminOptions, withAdmin } from '../admin/client.ts'
import { defaultConfig } from '../config/config-text.ts'
import { CommandFailure } from '../failures/command-failure.ts'
import { formatDollars } from '../output/amounts.ts'
import { printJson } from '../output/json.ts'
import { createStyle, type Style } from '../output/style.ts'
import { print } from '../process/print.ts'

/** Adds `check`, which sends each provider a real request. */
export function addCheckCommand(root: Command): void {
  const check = root
    .command('check')
    .description('send a small request to a provider, once with each credential')
    .argument('[provider]', 'name of the provider (default: all of them)')
    .option('--model <id>', 'model to ask (default: the first one of the provider)')
    .option('--json', 'print the answers of the admin API')
  addAdminOptions(check)
    .addHelpText('after', examples)
    .action((name: string | undefined, options: CheckOptions, command: Command) =>
      runCheck(name, options, command),
    )
}

const examples = `
The vendor charges these requests; the gateway counts them nowhere. Exit code 1: a provider does not answer, or
refuses a credential. With auth off there is no admin API: then this process sends the requests itself.

Examples:
  gateway check
  gateway check openai --model gpt-5-mini`

interface CheckOptions {
  readonly model?: string
  readonly json?: boolean
  readonly config?: string
  readonly url?: string
}

const checkedSchema = z.looseObject({
  provider: z.string(),
  /** Null for a provider that has none to ask. */
  model: z.string().nullable(),
  error: z.string().optional(),
  credentials: z.array(
    z.looseObject({
      credential: z.string(),
      reachable: z.boolean().nullable(),
      authenticated: z.boolean().nullable(),
      model_known: z.boolean().nullable(),
      first_token_ms: z.number().nullable(),
      cost: z.number().nullable(),
      error: z.string().nullable(),
    }),
  ),
})

type Checked = z.infer<typeof checkedSchema>

async function runCheck(
  name: string | undefined,
  options: CheckOptions,
  command: Command,
): Promise<void> {
  const given: CheckOptions = { ...command.optsWithGlobals(), ...options }
  if (given.model !== undefined && name === undefined) {
    throw new CommandFailure(2, '--model needs the name of a provider')
  }
  const style = createStyle()
  const show = (answer: unknown) =>
    given.json ? undefined : print(render(checkedSchema.parse(answer), style))
  const config = await findConfigWithoutAuth(given)
  const answers =
    config === undefined
      ? await withAdmin({ command, answerTimeout: noLimit }, async (admin) => {
          const body = given.model === undefined ? {} : { model: given.model }
          const ask: Ask = (one) =>
            admin.send('POST', `/admin/providers/${encodeURIComponent(one)}/check`, body)
          return name === undefined
            ? collect(await listProviders(admin.send), { ask: orWhyNot(ask), show })
            : collect([name], { ask, show })
        })
      : await checkHere(name, { ...given, text: config, show })
  if (given.json) await printJson(answers)
  const checked = answers.map((answer) => checkedSchema.parse(answer))
  const failed = checked.filter(hasFailed).map(({ provider }) => provider)
  if (failed.length === 0) return
  const names = failed.join(', ')
  throw new CommandFailure(1, `does not answer, or refuses a credential: ${names}`)
}

/** The timeouts of the providers end each check. */
const noLimit = 0

type Ask = (provider: string) => Promise<unknown>

/** Among all providers, one that has no model to ask must not hide what the others answer. */
function orWhyNot(ask: Ask): Ask {
  return async (provider) => {
    try {
      return await ask(provider)
    } catch (error) {
      if (!(error instanceof CommandFailure) || error.exitCode === 1) throw error
      return { provider, model: null, credentials: [], error: error.message }
    }
  }
}

interface Collecting {
  readonly ask: Ask
  /** Called with each answer as it comes: one may take minutes. */
  readonly show: Show
}

type Show = (answer: unknown) => Promise<void> | undefined

/** Asks one provider after the other. */
async function collect(names: readonly string[], { ask, show }: Collecting): Promise<unknown[]> {
  const answers: unknown[] = []
  for (const name of names) {
    const answer = await ask(name)
    await show(answer)
    answers.push(answer)
  }
  return answers
}

const statusSchema = z.looseObject({ credentials: z.record(z.string(), z.unknown()) })

async function listProviders(send: AdminClient['send']): Promise<readonly string[]> {
  return Object.keys(statusSchema.parse(await send('GET', '/admin/status')).credentials)
}

interface Here extends CheckOptions {
  readonly text: string
  readonly show: Show
}

/** Sends the requests from this process. */
async function checkHere(name: string | undefined, { text, config, model, show }: Here) {
  const file = config ?? defaultConfig
  const offline = { name: file, config: text, env: process.env, onMissing: 'reject' } as const
  const { openOfflineGateway } = await import('../admin/offline.ts')
  const { gateway, close } = await openOfflineGateway(offline)
  const ask: Ask = async (provider) => {
    const question = { provider, ...(model !== undefined && { model }) }
    const answer = await gateway.check(question).catch((error: unknown) => {
      throw error instanceof GatewayError ? new CommandFailure(2, error.message) : error
    })
    if (answer === undefined) throw new CommandFailure(2, `${file}: no provider ${provider}`)
    return JSON.parse(answer) as unknown
  }
  const all = gateway.overview.providers.map((provider) => provider.name)
  try {
    return await (name === undefined
      ? collect(all, { ask: orWhyNot(ask), show })
      : collect([name], { ask, show }))
  } finally {
    await close()
  }
}

function hasFailed({ credentials }: Checked): boolean {
  return credentials.some(
    ({ reachable, authenticated }) => reachable !== true || authenticated === false,
  )
}

function render({ provider, model, credentials, error }: Checked, style: Style): string {
  const { bold, dim, yellow } = style
  if (model === null) return `${bold(provider)}\n  ${yellow('not checked')}: ${error}`
  const lines = credentials.map((one) => {
    const name = one.credential === 'none' ? 'no credential' : one.credential
    return `  ${name}  ${renderVerdict(one, style)}`
  })
  return [`${bold(provider)} ${dim(model)}`, ...lines].join('\n')
}

function renderVerdict(one: Checked['credentials'][number], { green, red, yellow }: Style): string {
  const { error, first_token_ms: time, cost } = one
  if (error === null) {
    const price = cost === null ? '' : `, ${formatDollars(cost)}`
    return `${green('works')}: first token after ${time} ms${price}`
  }
  if (one.reachable === false) return `${red('not reached')}: ${error}`
  if (one.authenticated === false) return `${red('refused')}: ${error}`
  const word = one.model_known === false ? 'model unknown' : 'failed'
  return `${yellow(word)}: ${error}`
}
