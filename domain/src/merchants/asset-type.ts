/** Image types that every browser shows and that cannot contain scripts. */
export type AssetType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif'

/** Returns the image type by the bytes themselves, because the declared type may be wrong. Undefined for any other content. */
export function assetTypeOf(bytes: Buffer): AssetType | undefined {
  if (bytes.subarray(0, 8).equals(pngStart)) return 'image/png'
  if (bytes.subarray(0, 3).equals(jpegStart)) return 'image/jpeg'
  const start = bytes.toString('latin1', 0, 12)
  if (start.startsWith('RIFF') && start.endsWith('WEBP')) return 'image/webp'
  if (start.startsWith('GIF87a') || start.startsWith('GIF89a')) return 'image/gif'
  return undefined
}

const pngStart = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const jpegStart = Buffer.from([0xff, 0xd8, 0xff])
