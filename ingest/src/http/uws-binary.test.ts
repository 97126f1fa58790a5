import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { expect, it } from 'vitest'
import { assertPinnedBinary, UwsBinaryRefusedError, uwsBinaryPath } from './uws-binary.ts'

it('takes the binary that npm installed', () => {
  const path = uwsBinaryPath()
  expect(path).toBeDefined()
  assertPinnedBinary(path!, basename(path!))
})

it('refuses any other under the same name, and any name it does not know', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-uws-'))
  try {
    const path = join(folder, 'uws_linux_x64_115.node')
    await writeFile(path, 'something else')
    expect(() => assertPinnedBinary(path, basename(path))).toThrow(UwsBinaryRefusedError)
    expect(() => assertPinnedBinary(path, 'toString')).toThrow(/TOLLGATE_UWS_BINARY=any/)
  } finally {
    await rm(folder, { recursive: true })
  }
})
