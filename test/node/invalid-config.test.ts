import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type CommandLine, commandLine, setVariables } from './support/cli.ts'

/* Every command that reads the configuration names the file that is not TOML, and what to do with a file of LiteLLM. */

const commands: readonly (readonly string[])[] = [
  ['--check-config'],
  ['serve'],
  ['config'],
  ['prices'],
  ['keys', 'list'],
  ['groups', 'list'],
  ['usage'],
  ['backup', 'copy.db'],
  ['explain'],
]

async function runOn(text: string, line: CommandLine, args: readonly string[]) {
  // A gateway that runs on this machine must not answer.
  setVariables({ GATEWAY_SERVER__PORT: '1' })
  writeFileSync(line.config, text)
  const request = join(line.folder, 'request.json')
  writeFileSync(request, '{"model":"demo","messages":[{"role":"user","content":"Hi"}]}')
  return line.run(...args, ...(args[0] === 'explain' ? [request] : []))
}

test.each(commands.map((args) => [args.join(' '), args] as const))(
  '%s names the file that is not TOML',
  async (_, args) => {
    const line = await commandLine()
    const { config } = line
    expect(await runOn('[server\nport = 1\n', line, args)).toEqual({
      code: 2,
      stdout: '',
      stderr: `${config}, line 1, column 8: not TOML: the brackets of "[server" do not match: write [server]\n`,
    })
    expect(await runOn('model_list:\n  - model_name: a\n', line, args)).toEqual({
      code: 2,
      stdout: '',
      stderr: `${config}, line 1, column 11: this looks like a config.yaml of LiteLLM: convert it with \`gateway import litellm FILE\`\n`,
    })
  },
)
