/*
 * What every command of this repository needs before it can run, on a machine that has only Node: the packages of
 * the lock file and the built code. Plain JavaScript without imports of packages, because it runs before they exist.
 *
 * As a command: `node deploy/prepare.mjs`, with what the tests and checks need. Quick when there is nothing to do.
 */
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { clearInterval, setInterval } from 'node:timers'
import { fileURLToPath } from 'node:url'
import { isSupported, unsupportedText } from './node-versions.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const modules = join(root, 'node_modules')

/**
 * Installs and builds what is missing. With `development: false` the packages of tests and checks are left out: they are
 * more than half of all packages, and a start needs none of them. With `tools: false` that workspace is not built.
 */
export async function prepare({ development, tools = true }) {
  requireNode(process.versions.node)
  if (!hasPackages({ development }))
    await install({ development: development || hasTestPackages() })
  const turbo = join(modules, 'turbo/bin/turbo')
  const build = [turbo, 'run', 'build', '--output-logs=errors-only']
  if (!tools) build.push('--filter=!@tollgate/tools')
  await run(
    process.execPath,
    build,
    hasBuild() ? undefined : { text: 'Building for the first time' },
  )
}

function requireNode(version) {
  if (isSupported(version)) return
  console.error(unsupportedText(version))
  process.exit(1)
}

/**
 * Compares what npm says it installed with the lock file, package by package. File times are not asked: a checkout
 * changes them without changing a package, and an install by hand writes the two files in either order.
 */
function hasPackages({ development }) {
  const installedFile = join(modules, '.package-lock.json')
  if (!existsSync(installedFile)) return false
  const installed = JSON.parse(readFileSync(installedFile, 'utf8')).packages
  return wantedPackages({ development }).every(
    ([path, { version }]) => installed[path] !== undefined && installed[path].version === version,
  )
}

/** Entries of the lock file that are on every machine: `[path, entry]`. */
function wantedPackages({ development }) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return Object.entries(packages).filter(([path, entry]) => {
    if (path === '' || entry.optional || entry.devOptional || entry.peer) return false
    return development || !entry.dev
  })
}

/** An install that has them keeps them. */
function hasTestPackages() {
  return existsSync(join(modules, 'vitest'))
}

async function install({ development }) {
  const wanted = wantedPackages({ development }).length
  // `npm ci` begins by deleting all packages, also from under an installation that runs: what is missing is added instead.
  const isAddition = development && hasPackages({ development: false })
  const command = isAddition ? ['install', '--no-save', '--include=dev'] : ['ci']
  const parameters = [...command, '--no-audit', '--no-fund', '--loglevel=error']
  if (!development) parameters.push('--omit=dev')
  const detail = () => `, ${countPackages()} of about ${wanted}`
  await run(npmCommand(), parameters, { text: 'Installing packages', detail })
  removeForeignListeners()
}

function countPackages() {
  const packages = namesIn(modules).flatMap((name) =>
    name.startsWith('@') ? namesIn(join(modules, name)) : [name],
  )
  return packages.filter((name) => !name.startsWith('.')).length
}

/** Names in a folder; none while npm replaces it. */
function namesIn(folder) {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** NODE_MODULE_VERSION of Node 20, 22 and 24. */
const supportedAbis = ['115', '127', '137']

/** The package of uWebSockets.js holds a binary for each platform and Node version: 250 MB, of which one machine needs 15. */
function removeForeignListeners() {
  const folder = join(modules, 'uWebSockets.js')
  const own = supportedAbis.map((abi) => `uws_${process.platform}_${process.arch}_${abi}.node`)
  const isForeign = (name) => /^uws_.*\.node$/.test(name) && !own.includes(name)
  for (const name of namesIn(folder).filter(isForeign)) rmSync(join(folder, name))
}

function hasBuild() {
  return existsSync(join(root, 'deploy/dist'))
}

/** The npm beside this node, so that a version manager's choice of node is kept. */
export function npmCommand() {
  return process.platform === 'win32' ? 'npm.cmd' : 'npm'
}

/**
 * Runs a command whose output is shown only if it fails. `progress` is shown meanwhile, with the seconds that passed:
 * on a terminal in one line, elsewhere once before and once after. All of it goes to standard error, because standard
 * output belongs to the command that is being prepared.
 */
async function run(command, parameters, progress) {
  const child = spawn(command, parameters, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1' },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  const endProgress = progress === undefined ? () => undefined : showProgress(progress)
  const failure = await new Promise((resolve) => {
    child.on('error', (error) => resolve(error.message))
    child.on('close', (status, signal) => {
      if (status === 0) resolve(undefined)
      else resolve(signal ? `ended by ${signal}` : `exit code ${status}`)
    })
  })
  endProgress()
  if (failure === undefined) return
  process.stderr.write(output)
  console.error(`Could not prepare: ${[command, ...parameters].join(' ')} (${failure}).`)
  process.exit(1)
}

function showProgress({ text, detail = () => '' }) {
  const startedAtMs = Date.now()
  const seconds = () => `${Math.round((Date.now() - startedAtMs) / 1_000)} s`
  if (!process.stderr.isTTY) {
    console.error(`${text} ...`)
    return () => console.error(`${text}: done in ${seconds()}`)
  }
  const show = (line) => process.stderr.write(`\r\x1b[K${line}`)
  const timer = setInterval(() => show(`${text}${detail()} (${seconds()})`), 250)
  return () => {
    clearInterval(timer)
    show(`${text}: done in ${seconds()}\n`)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await prepare({ development: true })
