; The installer for Windows, for a single user and without administrator rights. scripts/dist.sh calls makensis with
; VERSION, RELEASE, SOURCE (the folder of files to install) and OUTPUT. "/S" installs silently, "/D=FOLDER", as the last
; argument, into another folder.
Target amd64-unicode
Unicode true
SetCompressor /SOLID lzma
RequestExecutionLevel user
ManifestDPIAware true
Name "Blik"
OutFile "${OUTPUT}"
InstallDir "$LOCALAPPDATA\Programs\Blik"
InstallDirRegKey HKCU "Software\Blik" "Folder"
VIProductVersion "${RELEASE}.0"
VIAddVersionKey /LANG=0 "ProductName" "Blik"
VIAddVersionKey /LANG=0 "FileDescription" "Installs Blik"
VIAddVersionKey /LANG=0 "FileVersion" "${VERSION}"
VIAddVersionKey /LANG=0 "ProductVersion" "${VERSION}"
VIAddVersionKey /LANG=0 "LegalCopyright" "${COPYRIGHT}"

!include MUI2.nsh
!include FileFunc.nsh
!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!insertmacro MUI_PAGE_LICENSE "${SOURCE}\LICENSE"
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!define MUI_FINISHPAGE_RUN "$INSTDIR\blik.exe"
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "Russian"

!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\Blik"
!define APP "Software\Classes\Applications\blik.exe"

Section
  SetOutPath "$INSTDIR"
  File /r "${SOURCE}\*.*"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateShortCut "$SMPROGRAMS\Blik.lnk" "$INSTDIR\blik.exe"
  WriteRegStr HKCU "Software\Blik" "Folder" "$INSTDIR"

  ; Offered under "Open with"; the default program for pictures does not change.
  WriteRegStr HKCU "${APP}" "FriendlyAppName" "Blik"
  WriteRegStr HKCU "${APP}\shell\open\command" "" '"$INSTDIR\blik.exe" "%1"'
  WriteRegStr HKCU "${APP}\SupportedTypes" ".tif" ""
  WriteRegStr HKCU "${APP}\SupportedTypes" ".tiff" ""
  WriteRegStr HKCU "${APP}\SupportedTypes" ".png" ""
  WriteRegStr HKCU "${APP}\SupportedTypes" ".jpg" ""
  WriteRegStr HKCU "${APP}\SupportedTypes" ".jpeg" ""

  WriteRegStr HKCU "${UNINSTALL}" "DisplayName" "Blik"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL}" "Publisher" "The Blik project"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayIcon" "$INSTDIR\blik.exe"
  WriteRegStr HKCU "${UNINSTALL}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL}" "NoRepair" 1
  ${GetSize} "$INSTDIR" "/S=0K" $0 $1 $2
  IntFmt $0 "0x%08X" $0
  WriteRegDWORD HKCU "${UNINSTALL}" "EstimatedSize" "$0"
SectionEnd

; Settings are kept; see docs/guide.md for their location.
Section "Uninstall"
  Delete "$SMPROGRAMS\Blik.lnk"
  Delete "$INSTDIR\blik.exe"
  Delete "$INSTDIR\blik-cli.exe"
  Delete "$INSTDIR\LICENSE"
  Delete "$INSTDIR\THIRD-PARTY.txt"
  Delete "$INSTDIR\README.md"
  Delete "$INSTDIR\README.ru.md"
  Delete "$INSTDIR\CHANGELOG.md"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  DeleteRegKey HKCU "${APP}"
  DeleteRegKey HKCU "${UNINSTALL}"
  DeleteRegKey HKCU "Software\Blik"
SectionEnd
