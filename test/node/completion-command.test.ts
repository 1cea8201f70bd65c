import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { runCommand } from './support/cli.ts'

const run = promisify(execFile)

const hasShell = (shell: string) => {
  try {
    execFileSync(shell, ['-c', 'true'])
    return true
  } catch {
    return false
  }
}

/** Returns what bash offers for a line that ends with the cursor. */
async function completeInBash(line: string): Promise<string[]> {
  const { stdout: script } = await runCommand('completion', 'bash')
  const words = line.split(' ')
  const typed = words.map((word) => `'${word}'`).join(' ')
  const body = `${script}\nCOMP_WORDS=(${typed}); COMP_CWORD=${words.length - 1}; _gateway
    printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout } = await run('bash', ['-c', body])
  return stdout.trim().split('\n')
}

describe.skipIf(!hasShell('bash'))('in bash', () => {
  test.each([
    ['gateway ke', ['keys']],
    ['gateway keys r', ['rm', 'rotate']],
    ['gateway -c x.toml keys create --bud', ['--budget-max', '--budget-period']],
    ['gateway completion --', ['--help']],
    ['gateway keys create nothing-like-this', ['']],
  ])('%s', async (line, offered) => {
    expect(await completeInBash(line)).toEqual(offered)
  })
})

test.skipIf(!hasShell('zsh'))('zsh can read its script', async () => {
  const { stdout } = await runCommand('completion', 'zsh')
  await expect(run('zsh', ['-nc', stdout])).resolves.toBeDefined()
})

test.skipIf(!hasShell('fish'))('fish can read its script', async () => {
  const { stdout } = await runCommand('completion', 'fish')
  await expect(run('fish', ['-nc', stdout])).resolves.toBeDefined()
})

test('zsh and fish get the same words', async () => {
  expect((await runCommand('completion', 'zsh')).stdout).toMatch(
    /' keys'\) choices=\(create list ls /,
  )
  expect((await runCommand('completion', 'fish')).stdout).toMatch(/= 'keys'" -a 'create list ls /)
})

test('another shell is bad usage', async () => {
  const { code, stderr } = await runCommand('completion', 'tcsh')
  expect({ code, stderr }).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/bash, zsh, fish/),
  })
})
