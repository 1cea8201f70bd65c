#!/bin/sh
# Runs a command of the gateway as the service runs: as its user, in its folder, with its keys. Run it as root:
#
#   install -m 0755 deploy/systemd/gateway.sh /usr/local/sbin/gateway
#   gateway keys create --name "search team"
#
# systemd reads the keys, so that they are on no command line. Write files with absolute paths, into
# /var/lib/gateway: the rest of the system is read-only for the service's user.
exec systemd-run --quiet --pipe --wait --collect --service-type=exec \
  --property=DynamicUser=yes \
  --property=User=gateway \
  --property=StateDirectory=gateway \
  --property=StateDirectoryMode=0700 \
  --property=WorkingDirectory=/var/lib/gateway \
  --property=EnvironmentFile=/etc/gateway/environment \
  --property=UMask=0077 \
  /usr/bin/node /opt/model-gateway/dist/gateway.js "$@" --config /etc/gateway/config.toml
