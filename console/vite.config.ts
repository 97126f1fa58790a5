import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig } from 'vite'

export default defineConfig({
  plugins: [react()],
  // Files refer to each other by relative addresses, because the path of an installation is not known when it is built.
  base: './',
  // The control plane replaces this text in each response.
  html: { cspNonce: '{nonce}' },
  resolve: { conditions: ['source', ...defaultClientConditions] },
  build: {
    target: 'es2022',
    // The page's policy allows no `data:` addresses.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 600,
    reportCompressedSize: false,
  },
})
