import { createHash } from 'node:crypto'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  assertAcceptedBinary,
  parseAcceptedBinary,
  UwsBinaryRefusedError,
  uwsBinaryPath,
} from './uws-binary.ts'

/** The ABI versions of Node 20, 22 and 24. */
const abis = [115, 127, 137]

let folder: string
let path: string
const content = 'another release'
const sha256 = createHash('sha256').update(content).digest('hex')

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-uws-'))
  path = join(folder, 'uws_linux_x64_115.node')
  await writeFile(path, content)
})
afterAll(() => rm(folder, { recursive: true }))

it('accepts the binary that npm installed', () => {
  expect(uwsBinaryPath()).toBeDefined()
  assertAcceptedBinary(uwsBinaryPath()!, 'pinned')
})

it('pins every file of the package for every supported version of Node', async () => {
  const packageFolder = dirname(uwsBinaryPath()!)
  const files = await readdir(packageFolder)
  for (const abi of abis) {
    const ofAbi = files.filter((file) => file.endsWith(`_${abi}.node`))
    // Files of other platforms may have been deleted after the install.
    expect(ofAbi).toContain(`uws_${process.platform}_${process.arch}_${abi}.node`)
    for (const file of ofAbi) assertAcceptedBinary(join(packageFolder, file), 'pinned')
  }
})

it('refuses another file under the same name, and a file with an unknown name', async () => {
  expect(() => assertAcceptedBinary(path, 'pinned')).toThrow(UwsBinaryRefusedError)
  await writeFile(join(folder, 'toString'), content)
  expect(() => assertAcceptedBinary(join(folder, 'toString'), 'pinned')).toThrow(
    /TOLLGATE_UWS_BINARY/,
  )
})

it('accepts another release only by its digest, or any file', () => {
  assertAcceptedBinary(path, parseAcceptedBinary(sha256.toUpperCase()))
  assertAcceptedBinary(path, parseAcceptedBinary('any'))
  const other = parseAcceptedBinary(sha256.replace(/^./, (digit) => (digit === '0' ? '1' : '0')))
  expect(() => assertAcceptedBinary(path, other)).toThrow(sha256)
  expect(() => assertAcceptedBinary(uwsBinaryPath()!, parseAcceptedBinary(sha256))).toThrow(
    UwsBinaryRefusedError,
  )
})

it('refuses a setting with a typing error', () => {
  for (const text of ['', 'none', 'Pinned', sha256.slice(1), `${sha256}0`]) {
    expect(() => parseAcceptedBinary(text)).toThrow(/must be pinned/)
  }
})
