/** Path under which the images of providers are served. */
export const assetsPath = '/v1/files/public/provider-assets'

export function assetUrl(hostedUrl: string, sha256: string): string {
  return `${hostedUrl}${assetsPath}/${sha256}`
}
