import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'

const SERVER = process.env['ROOTWARD_URL'] ?? 'http://127.0.0.1:8000'

export default defineConfig({
  base: '/console/',
  html: { cspNonce: '__CSP_NONCE__' },
  plugins: [react()],
  build: { target: 'es2022', modulePreload: { polyfill: false }, chunkSizeWarningLimit: 800, assetsInlineLimit: 0 },
  server: {
    // `npm run dev` serves the console with hot reload; everything else is asked of a running Rootward.
    proxy: {
      '/graphql': { target: SERVER, ws: true },
      '/blobs': SERVER,
      '/console/config.json': SERVER,
    },
  },
  test: { environment: 'happy-dom', include: ['src/**/*.test.{ts,tsx}'], setupFiles: ['src/testing/setup.ts'] },
})
