import { findAssetOf } from '@tollgate/domain/merchants/assets'
import { findMerchant } from '@tollgate/domain/merchants/repository'
import type { Caller } from '../access/caller.ts'
import { read, type ReadParts } from '../access/read.ts'
import { drawableLogo } from './logo.ts'
import type { Brand } from './render-document.ts'

/** Reads the current brand. It only decorates documents and is not part of what was issued. */
export async function readBrand(stores: ReadParts, caller: Caller): Promise<Brand> {
  const { providerId } = caller
  const { merchant, logo } = await read(stores, caller, async (sql) => ({
    merchant: await findMerchant(sql, providerId),
    logo: await findAssetOf(sql, providerId, 'logo'),
  }))
  return { accentColor: merchant.accentColor, logo: drawableLogo(logo) }
}
