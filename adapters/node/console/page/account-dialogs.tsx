import { AccountFields, type Noun, readAccount } from './account-form.tsx'
import { change } from './api.ts'
import { describeBudget } from './budgets.tsx'
import { Dialog } from './dialog.tsx'
import { Secret } from './secret.tsx'
import type { Key, KeyWithSecret, Subject } from './shapes.ts'
import { readAccounts } from './state.ts'

/** What a dialog is about. */
export type Opened =
  | { readonly dialog: 'new'; readonly noun: Noun }
  | {
      readonly dialog: 'edit' | 'grant' | 'delete'
      readonly noun: Noun
      readonly subject: Key | Subject
    }
  | { readonly dialog: 'rotate'; readonly subject: Key }
  | { readonly dialog: 'secret'; readonly created: KeyWithSecret }

/** Opens a dialog in place of the present one; undefined closes it. */
export type Open = (next: Opened | undefined) => void

interface DialogsProps {
  readonly opened: Opened
  readonly open: Open
}

/** The open dialog about a key or a group. */
export function AccountDialog({ opened, open }: DialogsProps) {
  const close = () => open(undefined)
  switch (opened.dialog) {
    case 'new':
      return <New noun={opened.noun} open={open} />
    case 'edit':
      return <Edit {...opened} close={close} />
    case 'grant':
      return <Grant {...opened} close={close} />
    case 'delete':
      return <Delete {...opened} close={close} />
    case 'rotate':
      return <Rotate subject={opened.subject} open={open} />
    case 'secret':
      return <Secret created={opened.created} close={close} />
    default:
      return opened satisfies never
  }
}

const singular = { keys: 'key', groups: 'group' } as const

function New({ noun, open }: { readonly noun: Noun; readonly open: Open }) {
  const submit = async (form: FormData) => {
    const created = await change<KeyWithSecret>('POST', `/admin/${noun}`, readAccount(form))
    // A group has no secret.
    open(noun === 'keys' ? { dialog: 'secret', created } : undefined)
    await readAccounts()
  }
  return (
    <Dialog
      title={`New ${singular[noun]}`}
      action={`Create ${singular[noun]}`}
      submit={submit}
      close={() => open(undefined)}
      isFollowed
    >
      <AccountFields noun={noun} />
    </Dialog>
  )
}

interface SubjectProps {
  readonly noun: Noun
  readonly subject: Key | Subject
  readonly close: () => void
}

function Edit({ noun, subject, close }: SubjectProps) {
  const submit = async (form: FormData) => {
    await change('PATCH', `/admin/${noun}/${subject.id}`, readAccount(form))
    await readAccounts()
  }
  return (
    <Dialog title={`Edit ${subject.name}`} action="Save" submit={submit} close={close}>
      <AccountFields noun={noun} subject={subject} />
    </Dialog>
  )
}

function Grant({ noun, subject, close }: SubjectProps) {
  const submit = async (form: FormData) => {
    const amount = Number(form.get('amount'))
    await change('POST', `/admin/${noun}/${subject.id}/grant`, { amount })
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

const consequences = {
  keys: 'Requests with this key fail from now on. Its spend stays in the usage log.',
  groups: 'Only a group without keys can be deleted. Its spend stays in the usage log.',
} as const

function Delete({ noun, subject, close }: SubjectProps) {
  const submit = async () => {
    await change('DELETE', `/admin/${noun}/${subject.id}`)
    await readAccounts()
  }
  return (
    <Dialog
      title={`Delete ${subject.name}?`}
      action="Delete"
      submit={submit}
      close={close}
      isDangerous
    >
      <p>{consequences[noun]}</p>
    </Dialog>
  )
}

function Rotate({ subject, open }: { readonly subject: Key; readonly open: Open }) {
  const submit = async (form: FormData) => {
    const body = { grace_seconds: Number(form.get('grace')) * 60 }
    const created = await change<KeyWithSecret>('POST', `/admin/keys/${subject.id}/rotate`, body)
    open({ dialog: 'secret', created })
    await readAccounts()
  }
  return (
    <Dialog
      title={`Rotate ${subject.name}`}
      action="Rotate"
      submit={submit}
      close={() => open(undefined)}
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
