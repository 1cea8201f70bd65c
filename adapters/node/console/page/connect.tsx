import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { send } from './api.ts'
import { type Client, type ClientBlock, clients, fillTarget, type Target } from './clients.ts'
import { CodeBlock } from './code-block.tsx'
import { usableModels, useModels } from './listed-models.ts'
import { Markdown } from './markdown.tsx'
import { linkTo, place, show } from './place.ts'

/** The address that clients are given; undefined until the console has said where the gateway is. */
const address = signal<string | undefined>(undefined)

/** What to set in each client, with the address of this gateway and one of its models. */
export function Connect() {
  useModels()
  useEffect(() => {
    if (address.value === undefined) void readAddress()
  }, [])
  const { query } = place.value
  const client = clients.find(({ name }) => toId(name) === query.get('client')) ?? clients[0]
  const { value: models = [] } = usableModels
  const model = models.find(({ id }) => id === query.get('model')) ?? models[0]
  if (!client) return null
  return (
    <section class="panel connect">
      <nav aria-label="Clients" class="clients">
        {clients.map(({ name }) => (
          <a
            key={name}
            href={linkTo('connect', { client: toId(name), model: query.get('model') ?? undefined })}
            aria-current={name === client.name ? 'page' : undefined}
          >
            {name}
          </a>
        ))}
      </nav>
      <div class="steps">
        <h2>{client.name}</h2>
        <form class="filters" onSubmit={(event) => event.preventDefault()}>
          <label>
            Address{' '}
            <input
              value={address.value ?? ''}
              spellcheck={false}
              onInput={({ currentTarget }) => (address.value = currentTarget.value)}
            />
          </label>
          <label>
            Model{' '}
            <select
              value={model?.id}
              onChange={({ currentTarget }) => show({ model: currentTarget.value })}
            >
              {models.map(({ id }) => (
                <option key={id}>{id}</option>
              ))}
            </select>
          </label>
        </form>
        <p class="hint">
          The address is the one at which this console reaches the gateway; change it where clients
          use another. <code>GATEWAY_KEY</code> is the secret of a key: a{' '}
          <a href={linkTo('keys')}>new key</a> shows it once.
        </p>
        <Steps
          client={client}
          target={{
            address: (address.value ?? '').replace(/\/+$/, ''),
            model: model?.id ?? 'MODEL',
          }}
        />
      </div>
    </section>
  )
}

interface StepsProps {
  readonly client: Client
  readonly target: Target
}

function Steps({ client: { parts }, target }: StepsProps) {
  return parts.map((part) =>
    typeof part === 'string' ? (
      <Markdown key={part} text={fillTarget(part, target)} />
    ) : (
      <Block key={part.text} block={part} target={target} />
    ),
  )
}

/** What the first word of a block's fence is called. */
const languages: Readonly<Record<string, string>> = {
  sh: 'Shell',
  ts: 'TypeScript',
  python: 'Python',
  toml: 'TOML',
  yaml: 'YAML',
  json: 'JSON',
}

function Block({ block, target }: { readonly block: ClientBlock; readonly target: Target }) {
  const text = fillTarget(block.text, target)
  const [language = ''] = block.info.split(' ')
  return <CodeBlock language={languages[language] ?? language} text={text} />
}

async function readAddress(): Promise<void> {
  const answer = await send('/gateway').catch(() => undefined)
  const known = (await answer?.json()) as { readonly address: string } | undefined
  address.value ??= known?.address
}

function toId(name: string): string {
  return name.toLowerCase().replaceAll(' ', '-')
}
