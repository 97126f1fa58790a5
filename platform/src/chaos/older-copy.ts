import { cp, rm } from 'node:fs/promises'

/**
 * Keeps a copy of a store's folder, to be put in its place later: what a restored backup, or a disk that lost its last
 * writes, looks like. Nothing may run on the folder while either is done.
 */
export async function keepCopy(folder: string): Promise<{ putBack(): Promise<void> }> {
  const copy = `${folder}.older`
  await rm(copy, { recursive: true, force: true })
  await cp(folder, copy, { recursive: true, preserveTimestamps: true })
  return {
    async putBack() {
      await rm(folder, { recursive: true, force: true })
      await cp(copy, folder, { recursive: true, preserveTimestamps: true })
    },
  }
}
