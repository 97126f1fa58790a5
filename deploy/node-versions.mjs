/*
 * The supported versions of Node.js, from `engines` in package.json. Plain JavaScript without imports of packages, because it
 * runs before they are installed.
 */
import { readFileSync } from 'node:fs'

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

/** The supported release lines as [major, lowest minor], in ascending order. */
export const supportedLines = engines.node.split('||').map((range) => {
  const [, major, minor] = /^\^(\d+)\.(\d+)\.0$/.exec(range.trim())
  return [Number(major), Number(minor)]
})

/** The release line of the image, which the docs recommend. */
const recommendedMajor = 24

/** Returns whether Tollgate supports `version`, which has the form of `process.versions.node`. */
export function isSupported(version) {
  const [major, minor] = version.split('.').map(Number)
  return supportedLines.some(([line, lowest]) => line === major && minor >= lowest)
}

/** Returns the message for an unsupported version, in one line. */
export function unsupportedText(version) {
  const lines = supportedLines.map(([major, minor]) =>
    minor === 0 ? `${major}` : `${major} (${major}.${minor} or later)`,
  )
  const list = `${lines.slice(0, -1).join(', ')} and ${lines.at(-1)}`
  return `Tollgate runs on Node.js ${list}; this is ${version}. Install Node.js ${recommendedMajor} and try again.`
}
