import react from '@vitejs/plugin-react'
import type { Plugin } from 'vite'
import { defineConfig } from 'vitest/config'

/** GraphiQL's style brings two fonts along; the page's own will do, and the policy takes none out of a style. */
const withoutFonts = (): Plugin => ({
  name: 'without-fonts',
  enforce: 'pre',
  transform: (code, id) =>
    /graphiql[/\\]dist[/\\]style\.css/.test(id) ? code.replace(/@font-face\s*\{[^}]*\}/g, '') : undefined,
})

const SERVER = process.env['ROOTWARD_URL'] ?? 'http://127.0.0.1:8000'

export default defineConfig({
  base: '/console/',
  html: { cspNonce: '__CSP_NONCE__' },
  plugins: [react(), withoutFonts()],
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 800,
    assetsInlineLimit: 0,
  },
  server: {
    fs: { allow: ['..'] }, // the schema
    // `npm run dev` serves the console with hot reload; everything else is asked of a running Rootward.
    proxy: {
      '/graphql': { target: SERVER, ws: true },
      '/blobs': SERVER,
      '/console/config.json': SERVER,
    },
  },
  test: {
    environment: 'happy-dom',
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['src/testing/setup.ts'],
  },
})
