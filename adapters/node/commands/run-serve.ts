import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import type { Command } from 'commander'
import { nearestName } from '../../../src/core/nearest-name.ts'
import type { Environment } from '../../../src/index.ts'
import { defaultConfig, readConfigText, readDemoText } from '../config/config-text.ts'
import { findVendors, wellKnown } from '../config/well-known.ts'
import { CommandFailure, usageHint } from '../failures/command-failure.ts'
import { print } from '../process/print.ts'
import { check } from './check.ts'
import { renderDemoIntro } from './demo-intro.ts'
import { writeInitialConfig } from './initial-config.ts'
import { start } from './start.ts'

interface ServeOptions {
  readonly config?: string
  readonly port?: string
  readonly checkConfig?: boolean
  readonly strict?: boolean
  readonly demo?: boolean
  readonly auto?: boolean
  readonly allowSecond?: boolean
}

/** Serves, or checks the configuration, as the options of the command line say. */
export async function runServe(command: Command): Promise<void> {
  const [unknown] = command.args
  if (unknown !== undefined) throw unknownCommand(unknown, command)
  // Options may come before or after the word `serve`.
  const options: ServeOptions = { ...command.optsWithGlobals(), ...command.opts() }
  const { config: path, port, demo = false, auto = false, strict = false, allowSecond } = options
  for (const [option, isGiven] of Object.entries({ '--demo': demo, '--auto': auto })) {
    if (!isGiven || path === undefined) continue
    throw new CommandFailure(2, `option '${option}' cannot be used with option '--config'`)
  }
  if (strict && !options.checkConfig) {
    throw new CommandFailure(2, "option '--strict' requires option '--check-config'")
  }
  const { name, text: config, file } = await readSource({ path, demo, auto })
  const env: Environment =
    port === undefined ? process.env : { ...process.env, GATEWAY_SERVER__PORT: port }
  if (options.checkConfig) {
    return print((await check({ name, config, env, strict })).join('\n'))
  }
  await start({
    config,
    path: file,
    env,
    allowSecond,
    onListening: (address, { auth }) => {
      if (demo)
        void print(renderDemoIntro({ address, needsKey: auth.enabled, command: findCommand() }))
    },
  })
}

/** Returns the command that works here: a checkout has no `gateway` on the path. */
function findCommand(): string {
  if (process.env['npm_lifecycle_event'] === 'start') return 'npm start'
  const [, script = ''] = process.argv
  return script.endsWith('.js') ? `node ${relative('', script)}` : 'gateway'
}

interface Source {
  /** The name of the configuration in messages. */
  readonly name: string
  readonly text: string
  /** The file, which is watched for changes. */
  readonly file: string | undefined
}

interface SourceOptions {
  readonly path: string | undefined
  readonly demo: boolean
  readonly auto: boolean
}

async function readSource({ path, demo, auto }: SourceOptions): Promise<Source> {
  if (demo) return { name: 'the demo configuration', text: await readDemoText(), file: undefined }
  if (auto && !existsSync(defaultConfig)) {
    return { name: 'the configuration of --auto', text: writeAutoConfig(), file: undefined }
  }
  return {
    name: path ?? defaultConfig,
    text: await readConfigText(path),
    file: path ?? defaultConfig,
  }
}

function writeAutoConfig(): string {
  if (findVendors(process.env).length > 0) return writeInitialConfig(process.env)
  const names = wellKnown.map(({ variables: [name] }) => name).join(', ')
  throw new CommandFailure(2, `--auto: there is no ${defaultConfig}, and none of ${names} is set`)
}

function unknownCommand(name: string, { commands }: Command): CommandFailure {
  const known = commands.flatMap((command) => [command.name(), ...command.aliases()])
  const nearest = nearestName(name, known)
  const hint = nearest === undefined ? usageHint : `did you mean '${nearest}'?`
  return new CommandFailure(2, `unknown command '${name}'; ${hint}`)
}
