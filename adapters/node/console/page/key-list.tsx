import { AccountActions } from './account-actions.tsx'
import type { Open } from './account-dialogs.tsx'
import {
  type KeyFilter,
  type ListedKey,
  matchesFilter,
  readSorting,
  readState,
  sortAccounts,
} from './account-list.ts'
import { AccountCells, AccountTable, type Column, NameCell } from './account-table.tsx'
import { change } from './api.ts'
import { Choice } from './choice.tsx'
import { describeKey, findRefused, keyStates } from './key-states.ts'
import { lastUsed } from './last-used.ts'
import { notify } from './notice.tsx'
import { Pager, takePage } from './pager.tsx'
import { linkTo, place, show } from './place.ts'
import { SearchBox } from './search-box.tsx'
import type { Key } from './shapes.ts'
import { groups, keys, names, readAccounts, requests } from './state.ts'
import { State } from './state-word.tsx'

interface ListProps {
  readonly open: Open
}

const columns: readonly Column[] = [
  { title: 'Name', sort: 'name' },
  { title: 'State' },
  { title: 'Spend', sort: 'spend', look: 'wide' },
  { title: 'Last used', sort: 'used' },
  { title: 'Created', sort: 'created', look: 'created' },
  { title: 'Limits' },
  { title: 'Models' },
]

/** The keys that match what is chosen, page by page. */
export function KeyList({ open }: ListProps) {
  const { query } = place.value
  const filter: KeyFilter = {
    text: query.get('q') ?? '',
    group: query.get('group') ?? '',
    state: readState(query.get('state')),
  }
  const sorting = readSorting(query.get('sort'))
  const rows = sortAccounts(listKeys(), sorting)
  const found = rows.filter((row) => matchesFilter(row, filter))
  const [shown, page] = takePage(found, Number(query.get('page') ?? 1))
  return (
    <>
      <Filters filter={filter} />
      {found.length > 0 ? (
        <AccountTable columns={columns} sorting={sorting}>
          {shown.map((row) => (
            <Row key={row.account.id} row={row} open={open} />
          ))}
        </AccountTable>
      ) : (
        <Empty hasKeys={rows.some(({ state }) => state.name !== 'console')} />
      )}
      <Pager page={page} count={found.length} turn={(next) => show({ page: String(next) })} />
    </>
  )
}

function listKeys(): ListedKey[] {
  const now = Date.now() / 1000
  const surroundings = { groups: groups.value, refused: findRefused(requests.value), now }
  return keys.value.map((key) => ({
    account: key,
    state: describeKey(key, surroundings),
    lastUsed: lastUsed.value.get(key.id),
    groupName: key.group_id === null ? undefined : names.value.get(key.group_id),
  }))
}

const stateTitles = {
  active: 'Active',
  spent: 'Budget spent',
  disabled: 'Disabled',
  expired: 'Expired',
  console: 'Of the console',
} as const

function Filters({ filter: { group, state } }: { readonly filter: KeyFilter }) {
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <SearchBox placeholder="Name, id or model" />
      <Choice
        name="Group"
        parameter="group"
        value={group}
        first="All"
        choices={[['none', 'None'], ...groups.value.map(({ id, name }) => [id, name] as const)]}
      />
      <Choice
        name="State"
        parameter="state"
        value={state}
        first="All"
        choices={keyStates.map((name) => [name, stateTitles[name]])}
      />
    </form>
  )
}

function Empty({ hasKeys }: { readonly hasKeys: boolean }) {
  if (!hasKeys) return <p class="empty">There is no key yet.</p>
  return (
    <p class="empty">
      No key matches. <a href="#keys">Show all keys</a>
    </p>
  )
}

interface RowProps extends ListProps {
  readonly row: ListedKey
}

function Row({ row: { account: key, state, lastUsed: used, groupName }, open }: RowProps) {
  return (
    <tr>
      <NameCell subject={key}>
        {key.group_id !== null && (
          <a class="cut" href={linkTo('keys', { group: key.group_id })}>
            {groupName ?? key.group_id.slice(0, 8)}
          </a>
        )}
      </NameCell>
      <td data-label="State">
        <State color={state.color} word={state.word} />
      </td>
      <AccountCells subject={key} lastUsed={used} />
      <Actions subject={key} open={open} />
    </tr>
  )
}

function Actions({ subject: key, open }: ListProps & { readonly subject: Key }) {
  const links = (
    <>
      <a href={linkTo('requests', { key: key.id })}>Requests</a>
      <a href={linkTo('spend', { key: key.id, by: 'model' })}>Spend</a>
    </>
  )
  return (
    <AccountActions noun="keys" subject={key} open={open} links={links}>
      <button type="button" onClick={() => open({ dialog: 'rotate', subject: key })}>
        Rotate…
      </button>
      <button type="button" onClick={() => void setDisabled(key, !key.disabled)}>
        {key.disabled ? 'Enable' : 'Disable'}
      </button>
    </AccountActions>
  )
}

/** Disables or enables a key, and offers the way back. */
async function setDisabled(key: Key, disabled: boolean): Promise<void> {
  try {
    await change('PATCH', `/admin/keys/${key.id}`, { disabled })
    await readAccounts()
    notify(`${key.name} is ${disabled ? 'disabled' : 'enabled'}.`, () => {
      void setDisabled(key, !disabled)
    })
  } catch (error) {
    notify(`${key.name} was not changed: ${error instanceof Error ? error.message : error}`)
  }
}
