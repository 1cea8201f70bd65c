// Writes the version of package.json into the README, the source and deploy/; `npm version` calls it.
import { readFileSync, writeFileSync } from 'node:fs'

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))

replaceIn('src/core/version.ts', /(?<=version = ').*(?=')/)
replaceIn('deploy/helm/model-gateway/Chart.yaml', /(?<=^(?:version|appVersion): ).*$/gm)
replaceIn('README.md', /(?<=model-gateway-).*(?=\.tgz)/)
replaceIn('deploy/kubernetes/gateway.yaml', /(?<=\/model-gateway:).*$/m)

function replaceIn(file, former) {
  writeFileSync(file, readFileSync(file, 'utf8').replace(former, version))
}
