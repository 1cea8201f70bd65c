import type { Command } from 'commander'
import { addLimitOptions } from './account-options.ts'
import { type Accounts, addAccountCommands } from './accounts.ts'
import { idNote } from './keys.ts'

/** Adds `groups`, which works on budget groups through the admin API. */
export function addGroupsCommand(root: Command): void {
  const parent = root
    .command('groups')
    .description('create, list and change groups, whose keys share a budget')
    .addHelpText(
      'after',
      `${idNote}

Example:
  gateway groups create --name search --budget-max 100`,
    )
  addAccountCommands(parent, groups)
}

const groups: Accounts = { noun: 'group', path: '/admin/groups', addFields: addLimitOptions }
