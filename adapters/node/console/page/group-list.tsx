import { AccountActions } from './account-actions.tsx'
import type { Open } from './account-dialogs.tsx'
import { contains, type Listed, readSorting, sortAccounts } from './account-list.ts'
import { AccountCells, AccountTable, type Column, NameCell } from './account-table.tsx'
import { formatWhole } from './format.ts'
import { lastUsed } from './last-used.ts'
import { Pager, takePage } from './pager.tsx'
import { linkTo, place, show } from './place.ts'
import { SearchBox } from './search-box.tsx'
import type { Subject } from './shapes.ts'
import { groups, keys } from './state.ts'

interface ListProps {
  readonly open: Open
}

const columns: readonly Column[] = [
  { title: 'Name', sort: 'name' },
  { title: 'Keys' },
  { title: 'Spend', sort: 'spend', look: 'wide' },
  { title: 'Last used', sort: 'used' },
  { title: 'Created', sort: 'created', look: 'created' },
  { title: 'Limits' },
  { title: 'Models' },
]

/** The groups that match what is chosen, page by page. */
export function GroupList({ open }: ListProps) {
  const { query } = place.value
  const sorting = readSorting(query.get('sort'))
  const listed = groups.value.map((account) => ({
    account,
    lastUsed: lastUsed.value.get(account.id),
  }))
  const found = sortAccounts(listed, sorting).filter(({ account: { name, id, models } }) =>
    contains([name, id, ...(models ?? [])], query.get('q') ?? ''),
  )
  const [shown, page] = takePage(found, Number(query.get('page') ?? 1))
  return (
    <>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <SearchBox placeholder="Name, id or model" />
      </form>
      {found.length > 0 ? (
        <AccountTable columns={columns} sorting={sorting}>
          {shown.map((row) => (
            <Row key={row.account.id} row={row} open={open} />
          ))}
        </AccountTable>
      ) : (
        <Empty />
      )}
      <Pager page={page} count={found.length} turn={(next) => show({ page: String(next) })} />
    </>
  )
}

function Empty() {
  if (groups.value.length === 0) {
    return (
      <p class="empty">There is no group yet. The keys of a group share its budget and limits.</p>
    )
  }
  return (
    <p class="empty">
      No group matches. <a href={linkTo('keys', { tab: 'groups' })}>Show all groups</a>
    </p>
  )
}

interface RowProps extends ListProps {
  readonly row: Listed<Subject>
}

function Row({ row: { account: group, lastUsed: used }, open }: RowProps) {
  const count = keys.value.filter((key) => key.group_id === group.id).length
  return (
    <tr>
      <NameCell subject={group} />
      <td data-label="Keys">
        {count === 0 ? (
          <span class="faint">none</span>
        ) : (
          <a href={linkTo('keys', { group: group.id })}>{formatWhole(count)}</a>
        )}
      </td>
      <AccountCells subject={group} lastUsed={used} />
      <Actions subject={group} open={open} />
    </tr>
  )
}

function Actions({ subject: group, open }: ListProps & { readonly subject: Subject }) {
  const links = (
    <>
      <a href={linkTo('keys', { group: group.id })}>Keys</a>
      <a href={linkTo('spend', { group: group.id, by: 'key' })}>Spend</a>
    </>
  )
  return <AccountActions noun="groups" subject={group} open={open} links={links} />
}
