import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formatTable } from '@tollgate/platform/terminal/table'
import { walkInBrowser } from './browser-walk.ts'
import { walkWithMcpClient } from './mcp-walk.ts'
import { createNewcomer, type Newcomer, type Running } from './newcomer.ts'
import { blocksUnder } from './shell-blocks.ts'

/*
 * `npm run test:walk`: the first hour of a new user, on a clean clone, under a new account with an empty home folder. Each command
 * of the README and the guides runs as printed. The pages are opened in Chromium, and screenshots are kept.
 *
 * It needs root to create the account, and port 8787. `npm run test:walk -- <folder>` uses the programs of another Node version.
 */

const repository = fileURLToPath(new URL('../../../', import.meta.url))
const nodeFolder = process.argv[2] ?? dirname(process.execPath)
const pictures = join(repository, 'deploy/screenshots', `walk-${process.argv[2] ? 'other' : 'own'}`)

const steps: string[][] = []

/** Runs a step, and records its duration and output. */
async function step(name: string, act: () => Promise<string>): Promise<string> {
  const startedAtMs = Date.now()
  const shown = await act()
  const seconds = ((Date.now() - startedAtMs) / 1_000).toFixed(1)
  steps.push([name, `${seconds} s`])
  console.log(`\n== ${name} (${seconds} s)\n${shown.trim()}`)
  return shown
}

const newcomer = createNewcomer(repository, nodeFolder)
let service: Running | undefined
try {
  await walk(newcomer)
  console.log(`\n${formatTable(['STEP', 'TIME'], steps)}\nPictures: ${pictures}\nThe walk is done.`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  await service?.interrupt()
  newcomer.remove()
}

/** Runs a script as printed. An exit code other than 0 ends the walk. */
async function type(script: string, folder?: string): Promise<string> {
  const options = folder === undefined ? {} : { folder }
  const { status, output } = await newcomer.run(script, options)
  if (status !== 0) throw new Error(`${script}\nended with ${status}:\n${output}`)
  return output
}

async function start(): Promise<string> {
  service = newcomer.start('npm start')
  return service.until(/Ctrl-C stops it/, 300_000)
}

async function walk({ clone, home }: Newcomer): Promise<void> {
  console.log(await type('node --version && id -un && ls -A ~'))
  const banner = await step('npm start, the first time', start)
  console.log(await type('du -sm node_modules . | sort -n'))
  const key = /sk_sandbox_\w+/.exec(banner)![0]
  for (const command of banner.match(/^ {2}curl .*$/gm)!) {
    await step(command.trim().replaceAll(key, '<key>'), () => type(command))
  }
  await readGuides(clone, home, key)
  const link = await step('tollgate user create', async () => {
    const provider = (await type('npm run --silent tollgate -- provider list --quiet')).trim()
    const options = `--provider ${provider.split('\n')[0]} --email ada@example.com`
    return type(`npm run --silent tollgate -- user create ${options} --quiet`)
  })
  mkdirSync(pictures, { recursive: true })
  await step('the pages, in Chromium', () => walkInBrowser(pictures, link.trim()))
  await sellMcpServer(join(clone, 'docs/mcp.md'))
  await step('npm run demo', () => type('npm run demo'))
  await step('Ctrl-C', async () => `exit code ${await service!.interrupt()}`)
  await step('npm start, the second time', start)
  await step('a second start beside it', async () => {
    const { status, output } = await newcomer.run('npm start')
    if (status === 0) throw new Error(output)
    return output
  })
}

async function readGuides(clone: string, home: string, key: string): Promise<void> {
  const docs = join(clone, 'docs')
  const readme = blocksUnder(join(clone, 'README.md'), 'Three commands', 'sh').join('\n')
  if (!readme.startsWith('npm start')) throw new Error('README begins with something else')
  await step('npm run tollgate -- --help', () => type('npm run tollgate -- --help'))

  const guide = blocksUnder(join(docs, 'getting-started.md'), 'Getting started', 'sh')
  const script = guide.join('\n').replaceAll('sk_sandbox_…', key)
  await step('docs/getting-started.md', () => type(`set -e\n${script}`))

  const oneMachine = blocksUnder(join(docs, 'data-team.md'), 'On one machine', 'sh')
  for (const block of oneMachine.filter((each) => each.includes('--silent'))) {
    await step('docs/data-team.md', () => type(`set -e\n${block}`))
  }
  await receiveWebhook(join(docs, 'webhooks.md'), home, key)
}

/** Runs the commands of docs/mcp.md and the customer's actions. The first command is `npm start`. */
async function sellMcpServer(page: string): Promise<void> {
  const [, startExample, register] = blocksUnder(page, '1. Start Tollgate and the example', 'sh')
  const example = newcomer.start(startExample!)
  try {
    await example.until(/listens on/, 20_000)
    const printed = await step('docs/mcp.md: register the example', () => type(register!))
    const proxyUrl = /sold at (\S+)/.exec(printed)![1]!
    await step('docs/mcp.md: sign-in, paywall, checkout and a paid call', () =>
      walkWithMcpClient(pictures, proxyUrl),
    )
  } finally {
    await example.interrupt()
  }
}

/** Runs the 5 commands of “The first webhook” in the 2 terminals that the page requires. */
async function receiveWebhook(page: string, home: string, key: string): Promise<void> {
  const heading = 'The first webhook'
  const [functions, install, create, receive, test] = blocksUnder(page, heading, 'sh')
  const folder = join(home, 'receiver')
  await type(`mkdir ${folder}`)
  writeFileSync(join(folder, 'receiver.mjs'), blocksUnder(page, heading, 'js')[0]!)
  await step('docs/webhooks.md: install the verifier', () => type(install!, folder))
  const ask = (command: string): Promise<string> =>
    type(`${functions!.replace('sk_sandbox_…', key)}\n${command}`)
  const endpoint = await step('docs/webhooks.md: create an endpoint', () => ask(create!))
  const secret = /whsec_[\w+/=-]+/.exec(endpoint)![0]
  const receiver = newcomer.start(receive!.replace('whsec_…', secret), folder)
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  await step('docs/webhooks.md: test it', () =>
    ask(test!.replace('we_…', /we_\w+/.exec(endpoint)![0])),
  )
  await step('docs/webhooks.md: what arrived', () => receiver.until(/payment\.succeeded/, 10_000))
  await receiver.interrupt()
}
