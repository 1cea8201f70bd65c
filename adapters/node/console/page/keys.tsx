import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { AccountDialog, type Open, type Opened } from './account-dialogs.tsx'
import type { Noun } from './account-form.tsx'
import { change } from './api.ts'
import { BudgetBar, describeBudget } from './budgets.tsx'
import { formatDate } from './format.ts'
import type { Key, Subject } from './shapes.ts'
import { groups, keys, names, readAccounts } from './state.ts'
import { State } from './state-word.tsx'

/** The keys and groups, and everything that can be done with them. */
export function Keys() {
  const opened = useSignal<Opened | undefined>(undefined)
  const open: Open = (next) => {
    opened.value = next
  }
  return (
    <>
      <section class="panel">
        <Head title="Keys" noun="keys" open={open} />
        {keys.value.length === 0 && <p class="empty">There is no key yet.</p>}
        {keys.value.length > 0 && <KeyTable open={open} />}
      </section>
      <section class="panel">
        <Head title="Groups" noun="groups" open={open} />
        {groups.value.length === 0 && (
          <p class="empty">
            There is no group yet. The keys of a group share its budget and limits.
          </p>
        )}
        {groups.value.length > 0 && <GroupTable open={open} />}
      </section>
      {opened.value && <AccountDialog opened={opened.value} open={open} />}
    </>
  )
}

interface TableProps {
  readonly open: Open
}

function Head({ title, noun, open }: TableProps & { readonly title: string; readonly noun: Noun }) {
  return (
    <div class="section-head">
      <h2>{title}</h2>
      <button type="button" class="primary" onClick={() => open({ dialog: 'new', noun })}>
        {noun === 'keys' ? 'New key' : 'New group'}
      </button>
    </div>
  )
}

function KeyTable({ open }: TableProps) {
  return (
    <AccountTable columns={['Name', 'State']}>
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
          <Limits subject={key} />
          <td class="actions">
            <KeyActions subject={key} open={open} />
          </td>
        </tr>
      ))}
    </AccountTable>
  )
}

function GroupTable({ open }: TableProps) {
  return (
    <AccountTable columns={['Name', 'Keys']}>
      {groups.value.map((group) => (
        <tr key={group.id}>
          <th scope="row">
            {group.name}
            <br />
            <span class="faint">created {formatDate(group.created_at)}</span>
          </th>
          <td>{keys.value.filter((key) => key.group_id === group.id).length}</td>
          <Limits subject={group} />
          <td class="actions">
            <SharedActions noun="groups" subject={group} open={open} />
          </td>
        </tr>
      ))}
    </AccountTable>
  )
}

interface AccountTableProps {
  /** The first columns, before those of the limits. */
  readonly columns: readonly string[]
  readonly children: ComponentChildren
}

function AccountTable({ columns, children }: AccountTableProps) {
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
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
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}

/** The cells of the budget, the limits and the models. */
function Limits({ subject }: { readonly subject: Subject }) {
  return (
    <>
      <td class="wide">
        {describeBudget(subject)}
        {subject.budget_max !== null && <BudgetBar subject={subject} />}
      </td>
      <td>{describeLimits(subject)}</td>
      <td>{subject.models?.join(', ') ?? 'all'}</td>
    </>
  )
}

function KeyActions({ subject: key, open }: TableProps & { readonly subject: Key }) {
  const setDisabled = async (disabled: boolean) => {
    await change('PATCH', `/admin/keys/${key.id}`, { disabled }).catch(() => undefined)
    await readAccounts()
  }
  return (
    <SharedActions noun="keys" subject={key} open={open}>
      <button type="button" class="quiet" onClick={() => open({ dialog: 'rotate', subject: key })}>
        Rotate<span class="visually-hidden"> {key.name}</span>
      </button>
      <button type="button" class="quiet" onClick={() => setDisabled(!key.disabled)}>
        {key.disabled ? 'Enable' : 'Disable'}
        <span class="visually-hidden"> {key.name}</span>
      </button>
    </SharedActions>
  )
}

interface ActionsProps extends TableProps {
  readonly noun: Noun
  readonly subject: Key | Subject
  /** Further actions, before the deletion. */
  readonly children?: ComponentChildren
}

function SharedActions({ noun, subject, open, children }: ActionsProps) {
  const show = (dialog: 'edit' | 'grant' | 'delete') => () => open({ dialog, noun, subject })
  return (
    <>
      {subject.budget_max !== null && (
        <button type="button" class="quiet" onClick={show('grant')}>
          Grant<span class="visually-hidden"> to {subject.name}</span>
        </button>
      )}
      <button type="button" class="quiet" onClick={show('edit')}>
        Edit<span class="visually-hidden"> {subject.name}</span>
      </button>
      {children}
      <button type="button" class="quiet danger" onClick={show('delete')}>
        Delete<span class="visually-hidden"> {subject.name}</span>
      </button>
    </>
  )
}

function describeState({ disabled, expires_at: expiresAt }: Key) {
  if (disabled) return { color: 'none', word: 'disabled' } as const
  if (expiresAt === null) return { color: 'good', word: 'active' } as const
  const isExpired = expiresAt * 1000 <= Date.now()
  if (isExpired) return { color: 'bad', word: `expired ${formatDate(expiresAt)}` } as const
  return { color: 'good', word: `until ${formatDate(expiresAt)}` } as const
}

function describeLimits({ rpm_limit: rpm, tpm_limit: tpm, max_parallel: parallel }: Subject) {
  const limits = [
    rpm === null ? undefined : `${rpm} requests/min`,
    tpm === null ? undefined : `${tpm} tokens/min`,
    parallel === null ? undefined : `${parallel} at once`,
  ]
  return limits.filter((limit) => limit !== undefined).join(', ') || 'none'
}
