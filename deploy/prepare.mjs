/*
 * Installs the packages of the lock file and builds the code, which every command of this repository needs. Plain JavaScript
 * without imports of packages, because it runs before they are installed.
 *
 * `node deploy/prepare.mjs` also installs the packages for tests and checks. It is quick if nothing is missing.
 */
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { clearInterval, setInterval } from 'node:timers'
import { fileURLToPath } from 'node:url'
import { isSupported, unsupportedText } from './node-versions.mjs'
import { hasCurrentPatches } from './patches.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const modules = join(root, 'node_modules')

/**
 * Installs missing packages and builds. With `development: false`, packages for tests and checks are left out: they are more
 * than half of all packages, and a start needs none of them. With `tools: false`, that workspace is not built.
 */
export async function prepare({ development, tools = true }) {
  requireNode(process.versions.node)
  if (!hasPackages({ development }))
    await install({ development: development || hasTestPackages() })
  const turbo = join(modules, 'turbo/bin/turbo')
  const build = [turbo, 'run', 'build', 'bundle', '--output-logs=errors-only']
  // Only checks need the types of the API, with which they compile the console.
  if (development) build.splice(3, 0, 'types')
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
 * Compares the packages that npm lists as installed with the lock file. File times are not compared: a checkout changes them
 * without changing a package, and a manual install writes the two files in any order.
 */
function hasPackages({ development }) {
  const installedFile = join(modules, '.package-lock.json')
  if (!existsSync(installedFile) || !hasCurrentPatches()) return false
  const installed = JSON.parse(readFileSync(installedFile, 'utf8')).packages
  return requiredPackages({ development }).every(
    ([path, { version }]) => installed[path] !== undefined && installed[path].version === version,
  )
}

/** Returns the lock file entries that every machine installs, as `[path, entry]`. */
function requiredPackages({ development }) {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  return Object.entries(packages).filter(([path, entry]) => {
    if (path === '' || entry.optional || entry.devOptional || entry.peer) return false
    return development || !entry.dev
  })
}

/** Returns whether packages for tests are installed. A later install keeps them. */
function hasTestPackages() {
  return existsSync(join(modules, 'vitest'))
}

async function install({ development }) {
  const wanted = requiredPackages({ development }).length
  // `npm ci` deletes all packages first, even those of a running installation. So only the missing ones are added.
  const isAddition = development && hasPackages({ development: false })
  const command = isAddition ? ['install', '--no-save', '--include=dev'] : ['ci']
  const parameters = [...command, '--no-audit', '--no-fund', '--loglevel=error']
  if (!development) parameters.push('--omit=dev')
  const detail = () => `, ${countPackages()} of about ${wanted}`
  await run(npmCommand(), parameters, { text: 'Installing packages', detail })
  removeForeignBinaries()
}

function countPackages() {
  const packages = namesIn(modules).flatMap((name) =>
    name.startsWith('@') ? namesIn(join(modules, name)) : [name],
  )
  return packages.filter((name) => !name.startsWith('.')).length
}

/** Returns the names in a folder. Returns none while npm replaces it. */
function namesIn(folder) {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** NODE_MODULE_VERSION of Node.js 20, 22 and 24. */
const supportedAbis = ['115', '127', '137']

/** Deletes binaries of other platforms. uWebSockets.js has one per platform and Node.js version: 250 MB, of which a machine needs 15 MB. */
function removeForeignBinaries() {
  const folder = join(modules, 'uWebSockets.js')
  const own = supportedAbis.map((abi) => `uws_${process.platform}_${process.arch}_${abi}.node`)
  const isForeign = (name) => /^uws_.*\.node$/.test(name) && !own.includes(name)
  for (const name of namesIn(folder).filter(isForeign)) rmSync(join(folder, name))
}

function hasBuild() {
  return existsSync(join(root, 'deploy/dist'))
}

/** Returns the npm command of this Node.js, so that the choice of a version manager is kept. */
export function npmCommand() {
  return process.platform === 'win32' ? 'npm.cmd' : 'npm'
}

/**
 * Runs a command and shows its output only if it fails. Meanwhile it shows `progress` with the elapsed seconds: in one line on a
 * terminal, otherwise once before and once after. Everything goes to standard error, because standard output belongs to the
 * command that is being prepared.
 */
async function run(command, parameters, progress) {
  const child = spawn(command, parameters, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      TURBO_TELEMETRY_DISABLED: '1',
      TURBO_NO_UPDATE_NOTIFIER: '1',
      // Another version of V8 needs other compiled code, so turbo must not reuse what an earlier one has built.
      BUNDLE_V8: `${process.versions.v8}-${process.arch}`,
    },
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
