import { useSignal } from '@preact/signals'
import { change } from './api.ts'
import { BudgetBar, describeBudget } from './budgets.tsx'
import { Dialog } from './dialog.tsx'
import { formatDate } from './format.ts'
import { NewKey } from './new-key.tsx'
import { State } from './providers.tsx'
import { Secret } from './secret.tsx'
import type { Key, KeyWithSecret } from './shapes.ts'
import { groups, keys, names, readAccounts } from './state.ts'

/** What a dialog is about. */
type Opened =
  | { readonly dialog: 'new' }
  | { readonly dialog: 'secret'; readonly created: KeyWithSecret }
  | { readonly dialog: 'grant' | 'rotate' | 'delete'; readonly key: Key }

/** The keys and groups, and everything that can be done with a key. */
export function Keys() {
  const opened = useSignal<Opened | undefined>(undefined)
  const close = () => (opened.value = undefined)
  return (
    <>
      <section class="panel">
        <div class="section-head">
          <h2>Keys</h2>
          <button type="button" class="primary" onClick={() => (opened.value = { dialog: 'new' })}>
            New key
          </button>
        </div>
        {keys.value.length === 0 && <p class="empty">There is no key yet.</p>}
        {keys.value.length > 0 && <KeyTable open={(next) => (opened.value = next)} />}
      </section>
      {groups.value.length > 0 && <GroupTable />}
      {opened.value && <OpenedDialog opened={opened.value} close={close} show={show(opened)} />}
    </>
  )
}

/** Returns a function that shows the secret of a key, once. */
function show(opened: { value: Opened | undefined }) {
  return (created: KeyWithSecret) => {
    opened.value = { dialog: 'secret', created }
  }
}

interface TableProps {
  readonly open: (next: Opened) => void
}

function KeyTable({ open }: TableProps) {
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">State</th>
            <th scope="col" class="wide">
              Budget
            </th>
            <th scope="col">Limits</th>
            <th scope="col">Models</th>
            <th scope="col">
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.value.map((key) => (
            <tr key={key.id}>
              <th scope="row">
                {key.name}
                <br />
                <span class="faint">
                  {key.group_id === null
                    ? `created ${formatDate(key.created_at)}`
                    : `group ${names.value.get(key.group_id) ?? key.group_id.slice(0, 8)}`}
                </span>
              </th>
              <td>
                <State {...describeState(key)} />
              </td>
              <td class="wide">
                {describeBudget(key)}
                {key.budget_max !== null && <BudgetBar subject={key} />}
              </td>
              <td>{describeLimits(key)}</td>
              <td>{key.models?.join(', ') ?? 'all'}</td>
              <td class="actions">
                <Actions subject={key} open={open} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface ActionsProps extends TableProps {
  readonly subject: Key
}

function Actions({ subject: key, open }: ActionsProps) {
  const setDisabled = async (disabled: boolean) => {
    await change('PATCH', `/admin/keys/${key.id}`, { disabled }).catch(() => undefined)
    await readAccounts()
  }
  return (
    <>
      {key.budget_max !== null && (
        <button type="button" class="quiet" onClick={() => open({ dialog: 'grant', key })}>
          Grant<span class="visually-hidden"> to {key.name}</span>
        </button>
      )}
      <button type="button" class="quiet" onClick={() => open({ dialog: 'rotate', key })}>
        Rotate<span class="visually-hidden"> {key.name}</span>
      </button>
      <button type="button" class="quiet" onClick={() => setDisabled(!key.disabled)}>
        {key.disabled ? 'Enable' : 'Disable'}
        <span class="visually-hidden"> {key.name}</span>
      </button>
      <button type="button" class="quiet danger" onClick={() => open({ dialog: 'delete', key })}>
        Delete<span class="visually-hidden"> {key.name}</span>
      </button>
    </>
  )
}

function GroupTable() {
  return (
    <section class="panel">
      <h2>Groups</h2>
      <ul class="rows">
        {groups.value.map((group) => (
          <li key={group.id}>
            <div class="row-head">
              <strong>{group.name}</strong>
              <span>{describeBudget(group)}</span>
            </div>
            {group.budget_max !== null && <BudgetBar subject={group} />}
          </li>
        ))}
      </ul>
    </section>
  )
}

interface OpenedProps {
  readonly opened: Opened
  readonly close: () => void
  readonly show: (created: KeyWithSecret) => void
}

function OpenedDialog({ opened, close, show: showSecret }: OpenedProps) {
  switch (opened.dialog) {
    case 'new':
      return <NewKey close={close} show={showSecret} />
    case 'secret':
      return <Secret created={opened.created} close={close} />
    case 'grant':
      return <Grant subject={opened.key} close={close} />
    case 'rotate':
      return <Rotate subject={opened.key} close={close} show={showSecret} />
    case 'delete':
      return <Delete subject={opened.key} close={close} />
    default:
      return opened satisfies never
  }
}

interface SubjectProps {
  readonly subject: Key
  readonly close: () => void
}

function Grant({ subject, close }: SubjectProps) {
  const submit = async (form: FormData) => {
    const amount = Number(form.get('amount'))
    await change('POST', `/admin/keys/${subject.id}/grant`, { amount })
    await readAccounts()
  }
  return (
    <Dialog title={`Grant to ${subject.name}`} action="Grant" submit={submit} close={close}>
      <p class="hint">{describeBudget(subject)}. A grant raises the budget for good.</p>
      <label>
        Amount in US dollars
        <input name="amount" type="number" min="0" step="any" required autofocus />
      </label>
    </Dialog>
  )
}

function Rotate({ subject, close, show: showSecret }: SubjectProps & Pick<OpenedProps, 'show'>) {
  const submit = async (form: FormData) => {
    const body = { grace_seconds: Number(form.get('grace')) * 60 }
    showSecret(await change('POST', `/admin/keys/${subject.id}/rotate`, body))
    await readAccounts()
  }
  return (
    <Dialog
      title={`Rotate ${subject.name}`}
      action="Rotate"
      submit={submit}
      close={close}
      isFollowed
    >
      <label>
        The present secret is accepted for
        <select name="grace" autofocus>
          <option value="0">no longer</option>
          <option value="60">an hour</option>
          <option value="1440">a day</option>
          <option value="10080">a week</option>
        </select>
      </label>
    </Dialog>
  )
}

function Delete({ subject, close }: SubjectProps) {
  const submit = async () => {
    await change('DELETE', `/admin/keys/${subject.id}`)
    await readAccounts()
  }
  return (
    <Dialog title={`Delete ${subject.name}?`} action="Delete" submit={submit} close={close}>
      <p>Requests with this key fail from now on. Its spend stays in the usage log.</p>
    </Dialog>
  )
}

function describeState({ disabled, expires_at: expiresAt }: Key) {
  if (disabled) return { color: 'none', word: 'disabled' } as const
  if (expiresAt === null) return { color: 'good', word: 'active' } as const
  const isExpired = expiresAt * 1000 <= Date.now()
  if (isExpired) return { color: 'bad', word: `expired ${formatDate(expiresAt)}` } as const
  return { color: 'good', word: `until ${formatDate(expiresAt)}` } as const
}

function describeLimits({ rpm_limit: rpm, tpm_limit: tpm, max_parallel: parallel }: Key): string {
  const limits = [
    rpm === null ? undefined : `${rpm} requests/min`,
    tpm === null ? undefined : `${tpm} tokens/min`,
    parallel === null ? undefined : `${parallel} at once`,
  ]
  return limits.filter((limit) => limit !== undefined).join(', ') || 'none'
}
