import { join } from 'node:path'
import { expect, it } from 'vitest'
import { dataDirSetting, embeddedFolder } from './data-dir.ts'
import { readSettings, SettingsError } from './settings.ts'

const settings = { dataDir: dataDirSetting }

it('requires the data folder only if a part is embedded', () => {
  const { dataDir } = readSettings(settings, {})
  expect(() => embeddedFolder(dataDir, 'hot')).toThrow(SettingsError)
  expect(() => embeddedFolder(dataDir, 'hot')).toThrow('TOLLGATE_DATA_DIR is not set')
})

it('places embedded parts in the data folder', () => {
  const { dataDir } = readSettings(settings, { TOLLGATE_DATA_DIR: 'data' })
  expect(embeddedFolder(dataDir, 'hot')).toBe(join('data', 'hot'))
})
