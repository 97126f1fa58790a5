/*
 * What every command of this repository needs before it can run, on a machine that has only Node: the packages of
 * the lock file and the built code. Plain JavaScript without imports of packages, because it runs before they exist.
 *
 * As a command: `node deploy/prepare.mjs`. Quick when there is nothing to do.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isSupported, unsupportedText } from './node-versions.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

export function prepare() {
  requireNode(process.versions.node)
  if (!hasPackages()) {
    console.error('Installing the packages of package-lock.json (npm ci) ...')
    run(npmCommand(), ['ci', '--no-audit', '--no-fund'], 'inherit')
  }
  if (!hasBuild()) console.error('Building for the first time ...')
  const turbo = join(root, 'node_modules/turbo/bin/turbo')
  run(process.execPath, [turbo, 'run', 'build', '--output-logs=errors-only'], 'pipe')
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
function hasPackages() {
  const installedFile = join(root, 'node_modules/.package-lock.json')
  if (!existsSync(installedFile)) return false
  const installed = JSON.parse(readFileSync(installedFile, 'utf8')).packages
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  return Object.entries(wanted).every(([path, entry]) => {
    if (path === '' || entry.optional || entry.devOptional || entry.peer) return true
    return installed[path] !== undefined && installed[path].version === entry.version
  })
}

function hasBuild() {
  return existsSync(join(root, 'deploy/dist'))
}

/** The npm beside this node, so that a version manager's choice of node is kept. */
export function npmCommand() {
  return process.platform === 'win32' ? 'npm.cmd' : 'npm'
}

/**
 * Output goes to standard error, as standard output belongs to the command that is being prepared: at once, or only
 * when something failed.
 */
function run(command, parameters, output) {
  const { status, error, signal, stdout, stderr } = spawnSync(command, parameters, {
    cwd: root,
    stdio: output === 'inherit' ? ['ignore', 2, 2] : ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1' },
    maxBuffer: 64 * 1_048_576,
  })
  if (status === 0) return
  if (output === 'pipe') process.stderr.write(`${stdout ?? ''}${stderr ?? ''}`)
  const reason = error ? error.message : signal ? `ended by ${signal}` : `exit code ${status}`
  console.error(`Could not prepare: ${[command, ...parameters].join(' ')} (${reason}).`)
  process.exit(1)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) prepare()
