export interface DemoIntroOptions {
  /** The address of the demo, for example `http://127.0.0.1:8080`. */
  readonly address: string
  readonly needsKey: boolean
  /** The command that starts this gateway again, for example `npm start`. */
  readonly command: string
}

/** Renders the text that the demo prints at its start: commands to copy, and the next steps. */
export function renderDemoIntro({ address, needsKey, command }: DemoIntroOptions): string {
  const key = needsKey ? ` -H "Authorization: Bearer $KEY"` : ''
  const commands = [
    ...(needsKey ? [buildKeyCommand(address)] : []),
    `curl ${address}/v1/models${key}`,
    `curl ${address}/v1/chat/completions${key} -d '${buildChatBody()}'`,
    `curl -N ${address}/v1/chat/completions${key} -d '${buildChatBody({ stream: true })}'`,
    ...(needsKey ? [buildUsageCommand(address)] : []),
    `curl ${address}/metrics`,
  ]
  const intro = needsKey
    ? 'Try the demo. Auth is enabled, so the first command creates a key with a budget of 5 US dollars:'
    : 'Try the demo:'
  return `
${intro}

${indent(commands.join('\n'))}

Next, write a config.toml with your own provider, then run \`${command}\`:

${indent(firstConfig)}
`
}

/** A minimal configuration file. */
const firstConfig = `[[providers]]
name = "openai"
kind = "openai"
api_key_env = "OPENAI_API_KEY"

[[providers.models]]
id = "gpt-4o-mini"`

const masterKey = '-H "Authorization: Bearer $GATEWAY_MASTER_KEY"'

/** The command that shows usage, which the gateway saves every few seconds. */
function buildUsageCommand(address: string): string {
  return `curl "${address}/admin/usage?group_by=key_id" ${masterKey}`
}

/** The command that creates a key. The key is shown only once, so the command stores it in a variable. */
function buildKeyCommand(address: string): string {
  const fields = JSON.stringify({ name: 'demo', budget_max: 5 })
  const create = `curl -s ${address}/admin/keys ${masterKey} -d '${fields}'`
  return `KEY=$(${create} | sed 's/.*"key":"//; s/".*//')`
}

function buildChatBody(fields: object = {}): string {
  return JSON.stringify({
    model: 'demo',
    ...fields,
    messages: [{ role: 'user', content: 'Hello' }],
  })
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ')
}
