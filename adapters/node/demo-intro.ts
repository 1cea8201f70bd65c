export interface DemoIntroOptions {
  /** Where the demo listens: `http://127.0.0.1:8080`. */
  readonly address: string
  readonly needsKey: boolean
}

/** What the demo prints at its start: commands that work as they are, and what to do next. */
export function renderDemoIntro({ address, needsKey }: DemoIntroOptions): string {
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
    ? 'Try the demo. Auth is on, so the first command makes a key with a budget of 5 dollars:'
    : 'Try the demo:'
  return `
${intro}

${indent(commands.join('\n'))}

Next, write config.toml with a provider of your own, and run \`gateway\`:

${indent(firstConfig)}
`
}

/** A first configuration file. */
const firstConfig = `[[providers]]
name = "openai"
kind = "openai"
api_key_env = "OPENAI_API_KEY"

[[providers.models]]
id = "gpt-4o-mini"`

const masterKey = '-H "Authorization: Bearer $GATEWAY_MASTER_KEY"'

/** What has been spent, a few seconds after it was. */
function buildUsageCommand(address: string): string {
  return `curl "${address}/admin/usage?group_by=key_id" ${masterKey}`
}

/** The key is shown once, so the command keeps it in a variable. */
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
