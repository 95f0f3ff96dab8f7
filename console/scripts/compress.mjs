// Packs the built files by gzip and brotli once, so that the server need not do it for each answer.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { argv } from 'node:process'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const PACKED = new Set(['.css', '.js', '.json', '.map', '.svg', '.webmanifest'])
const LEAST_BYTES = 1024

const folder = argv[2] ?? 'dist'
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  const file = join(entry.parentPath, entry.name)
  if (!entry.isFile() || !PACKED.has(extname(file))) continue
  const plain = readFileSync(file)
  if (plain.length < LEAST_BYTES) continue
  writeFileSync(`${file}.gz`, gzipSync(plain, { level: constants.Z_BEST_COMPRESSION }))
  const quality = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY }
  writeFileSync(`${file}.br`, brotliCompressSync(plain, { params: quality }))
}
