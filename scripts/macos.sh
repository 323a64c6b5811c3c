#!/usr/bin/env bash
# Builds Blik.app and a disk image on a Mac, with Go, Xcode's command line tools and librsvg (brew install librsvg). With
# IDENTITY ("Developer ID Application: …") it is signed for other Macs, otherwise ad hoc for this one; with PROFILE, the
# name under which "xcrun notarytool store-credentials" keeps an account, Apple is asked to notarise it.
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(uname)" = Darwin ] || { echo "macos.sh: this needs a Mac: Apple's compiler and SDK run nowhere else." >&2; exit 1; }
for tool in go clang lipo iconutil codesign hdiutil rsvg-convert; do
  command -v $tool >/dev/null || { echo "macos.sh: there is no $tool." >&2; exit 1; }
done
release=$(sed -n 's/^Version = "\(.*\)"/\1/p' FyneApp.toml)
version=$release+$(git log -1 --format=%cd --date=format:%Y%m%d).$(git log -1 --format=%h)
work=build/macos
app=$work/Blik.app
rm -rf "$work"
mkdir -p "$app/Contents/MacOS" "$app/Contents/Resources" "$work/blik.iconset" build/dist

for arch in arm64 amd64; do
  clang_arch=${arch/amd64/x86_64}
  CGO_ENABLED=1 GOARCH=$arch GOFLAGS="-trimpath -buildvcs=false" GOEXPERIMENT=simd \
    CGO_CFLAGS="-O2 -arch $clang_arch -mmacosx-version-min=12.0" CGO_LDFLAGS="-arch $clang_arch -mmacosx-version-min=12.0" \
    go build -tags accessibility -ldflags "-s -w -X main.version=$version" -o "$work/blik-$arch" .
done
lipo -create -output "$app/Contents/MacOS/blik" "$work/blik-arm64" "$work/blik-amd64"

for size in 16 32 128 256 512; do
  rsvg-convert -w $size -h $size assets/icon.svg >"$work/blik.iconset/icon_${size}x$size.png"
  rsvg-convert -w $((2 * size)) -h $((2 * size)) assets/icon.svg >"$work/blik.iconset/icon_${size}x$size@2x.png"
done
iconutil -c icns -o "$app/Contents/Resources/blik.icns" "$work/blik.iconset"
sed -e "s|@RELEASE@|$release|g" -e "s|@COPYRIGHT@|$(sed -n 's/^Copyright (c) //p' LICENSE)|g" packaging/macos/Info.plist.in \
  >"$app/Contents/Info.plist"
plutil -lint "$app/Contents/Info.plist"

if [ -n "${IDENTITY:-}" ]; then
  codesign --force --options runtime --timestamp --entitlements packaging/macos/entitlements.plist --sign "$IDENTITY" "$app"
else
  codesign --force --sign - "$app"
fi
codesign --verify --strict "$app"
image=build/dist/blik-$version-macos.dmg
rm -f "$image"
hdiutil create -volname Blik -srcfolder "$app" -format UDZO "$image"
if [ -n "${PROFILE:-}" ]; then
  xcrun notarytool submit "$image" --keychain-profile "$PROFILE" --wait
  xcrun stapler staple "$image"
fi
echo "$image"
