import { cp, rm } from 'node:fs/promises'

/**
 * Copies a store's folder, so that the copy can replace it later. That simulates a restored backup, or a disk that lost its last
 * writes. No process may use the folder during either step.
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
